import { keyOf } from '../../kube/object.ts';
import type { Logger } from '../../process/log.ts';
import type { AgentTask, Failure, Runner } from '../jobs/runner.ts';
import type { ControllerMetrics } from '../status/report.ts';
import type { Admission } from './admission.ts';
import type { Change } from './admitted-changes.ts';
import type { Refusal } from './rollout.ts';
import type { Rollout } from './rollout-budget.ts';

interface DispatchOptions {
  readonly runner: Pick<Runner, 'nameOf'>;
  readonly admission: Admission;
  readonly rollout: Pick<Rollout, 'request'>;
  readonly metrics: ControllerMetrics;
  readonly log: Logger;
}

/**
 * Starts a run if permitted, otherwise resolves to the reason. Freed capacity wakes the object. `change`: node and
 * revisions, for runs counted by the rollout budget.
 */
export type Dispatch = (
  task: AgentTask,
  begin: () => Promise<void>,
  change?: Pick<Change, 'node' | 'revisions'>,
) => Promise<Failure | Refusal | undefined>;

export function createDispatch(options: DispatchOptions): Dispatch {
  const { runner, admission, rollout, metrics, log } = options;
  return async (task, begin, change) => {
    const key = keyOf(task.config);
    const { node, action, attempt, generation } = task;
    const name = runner.nameOf(task);
    // Ask the rollout before taking a slot: a change held by its rollout must not block a slot.
    const part = change && rollout.request({ key, ...change });
    if (part && !part.granted) return part.why;
    const permission = admission.request({ key, node, name, action, attempt });
    if (!permission.granted) {
      part?.reserve();
      return turn(permission.why);
    }
    try {
      await begin();
    } finally {
      permission.release();
      part?.release();
    }
    log.info({ config: key, job: name, node, action, attempt, generation }, 'agent Job started');
    metrics.count('multinic_jobs_started_total', { action });
    return undefined;
  };
}

export function turn(message: string): Failure {
  return { reason: 'WaitingForTurn', message };
}
