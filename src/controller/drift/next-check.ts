import { keyOf } from '../../kube/object.ts';
import type { Outcome } from '../../kube/reconcile/controller.ts';
import { recordOf } from '../jobs/applied.ts';
import { machineOf } from '../objects/machine.ts';
import type { Task } from '../scheduling/task.ts';
import { pausedIn } from '../status/paused.ts';
import type { Check } from './check-task.ts';
import { hasBooted } from './drift.ts';

/** Enqueues the drift check of an applied object, or returns when the next check is due. */
export type ScheduleCheck = (task: Task) => Outcome | undefined;

/** `enqueue`: enqueues a drift check for the object's node. */
export function createScheduleCheck(
  check: Pick<Check, 'dueAfterMs'>,
  enqueue: (key: string) => void,
): ScheduleCheck {
  return (task) => {
    const { report, node } = task;
    const record = recordOf(report.config);
    // The run's outcome was just reported and is not stored yet: a new phase must not overwrite the outcome.
    if (!record?.done) return { requeueAfterMs: 0 };
    if (pausedIn(report.config)) return undefined;
    const waitMs = check.dueAfterMs(task);
    if (waitMs > 0) return { requeueAfterMs: waitMs };
    // After a boot the node's state is unknown; the drift check reports the state.
    if (hasBooted(record, machineOf(node))) report.drop();
    enqueue(keyOf(report.config));
    return undefined;
  };
}
