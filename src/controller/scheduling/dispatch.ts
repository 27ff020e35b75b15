import { keyOf } from '../../kube/object.ts';
import type { Logger } from '../../process/log.ts';
import type { AgentTask, Failure, Runner } from '../jobs/runner.ts';
import type { ControllerMetrics } from '../status/report.ts';
import type { Admission } from './admission.ts';
import type { Change, Refusal, Rollout } from './rollout-budget.ts';

export interface DispatchOptions {
  readonly runner: Pick<Runner, 'nameOf'>;
  readonly admission: Admission;
  readonly rollout: Pick<Rollout, 'request'>;
  readonly metrics: ControllerMetrics;
  readonly log: Logger;
}

/**
 * Begins a run when it is its turn; resolves to why it is not. Its object is woken when there is room. `change`: node and
 * revision of a run that the rollout budget counts.
 */
export type Dispatch = (
  order: AgentTask,
  begin: () => Promise<void>,
  change?: Pick<Change, 'node' | 'revision'>,
) => Promise<Failure | Refusal | undefined>;

export function createDispatch(options: DispatchOptions): Dispatch {
  const { runner, admission, rollout, metrics, log } = options;
  return async (order, begin, change) => {
    const key = keyOf(order.config);
    const { node, action, attempt, generation } = order;
    const name = runner.nameOf(order);
    // Before a place: a change that its rollout does not allow yet takes no place from another one.
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
    log.info({ config: key, job: name, node, action, attempt, generation }, 'agent sent');
    metrics.count('multinic_jobs_started_total', { action });
    return undefined;
  };
}

export function turn(message: string): Failure {
  return { reason: 'WaitingForTurn', message };
}
