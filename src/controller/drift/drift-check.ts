import type { Outcome } from '../../kube/reconcile/controller.ts';
import type { Applied } from '../jobs/applied.ts';
import type { Failure, NodeEvents } from '../jobs/runner.ts';
import { requeueMs } from '../scheduling/requeue.ts';
import type { Desired } from '../scheduling/schedule.ts';
import type { Task } from '../scheduling/task.ts';
import { undone } from './check-findings.ts';

/** One drift check. */
export interface DriftCheck {
  readonly task: Task;
  readonly key: string;
  readonly applied: Applied;
  /** True in mode Observe: the finding is about the spec, and nothing is applied. */
  readonly isObserved: boolean;
  readonly occasion: NodeEvents;
  /** True if the node rebooted: the applied state is unknown until the check. */
  readonly booted: boolean;
  readonly desired: Desired;
}

/** `heal`: drift is applied again; `report`: drift is only reported, unless a user requested healing. */
export type DriftPolicy = 'heal' | 'report';

/** Marks the record incomplete: the contents are applied again at once. */
export function heal({ report }: Task, applied: Applied): Outcome {
  report.tell({ kind: 'recorded' }, undone(applied, ['Drifted']));
  return { requeueAfterMs: 0 };
}

/** Reports why the check must wait. Without a reboot the known state stays valid until the check. */
export function wait({ task, booted }: DriftCheck, why: Failure): Outcome {
  if (booted) task.report.tell({ kind: 'waiting', repeat: false, ...why });
  return { requeueAfterMs: requeueMs };
}
