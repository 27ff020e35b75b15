import { keyOf } from '../../kube/object.ts';
import type { Outcome } from '../../kube/reconcile/controller.ts';
import { recordOf } from '../jobs/applied.ts';
import { isObserved, prohibitionOf } from '../jobs/permission.ts';
import { machineOf } from '../objects/machine.ts';
import type { Task } from '../scheduling/task.ts';
import type { Check } from './check-task.ts';
import { hasBooted } from './drift.ts';

/** Enqueues the check of an applied or observed object, or returns when the next check is due. */
export type ScheduleCheck = (task: Task) => Outcome | undefined;

/** `enqueue`: enqueues a drift check for the object's node. */
export function createScheduleCheck(
  check: Pick<Check, 'dueAfterMs'>,
  enqueue: (key: string) => void,
): ScheduleCheck {
  return (task) => {
    const { report, node } = task;
    const { config } = report;
    const record = isObserved(config) ? undefined : recordOf(config);
    // The run's outcome was just reported and is not stored yet: a new phase must not overwrite the outcome.
    if (!record?.done && !isObserved(config)) return { requeueAfterMs: 0 };
    if (prohibitionOf(config, 'check')) return undefined;
    const waitMs = check.dueAfterMs(task);
    if (waitMs > 0) return { requeueAfterMs: waitMs };
    // After a boot the node's state is unknown; the drift check reports the state.
    if (record && hasBooted(record, machineOf(node))) report.drop();
    enqueue(keyOf(config));
    return undefined;
  };
}
