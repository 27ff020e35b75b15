import { keyOf } from '../../kube/object.ts';
import type { Logger } from '../../process/log.ts';
import type { Order, Runner } from '../jobs/runner.ts';
import type { ControllerMetrics } from '../status/report.ts';
import type { Admission } from './admission.ts';

export interface DispatchOptions {
  readonly runner: Pick<Runner, 'nameOf'>;
  readonly admission: Admission;
  readonly metrics: ControllerMetrics;
  readonly log: Logger;
}

/** Begins a run when it is its turn; resolves to why it is not. Its object is woken when there is room. */
export type Dispatch = (order: Order, begin: () => Promise<void>) => Promise<string | undefined>;

export function createDispatch({ runner, admission, metrics, log }: DispatchOptions): Dispatch {
  return async (order, begin) => {
    const key = keyOf(order.config);
    const { node, action, attempt, generation } = order;
    const name = runner.nameOf(order);
    const permission = admission.request({ key, node, name, action, attempt });
    if (!permission.granted) return permission.why;
    try {
      await begin();
    } finally {
      permission.release();
    }
    log.info({ config: key, job: name, node, action, attempt, generation }, 'agent sent');
    metrics.count('multinic_jobs_started_total', { action });
    return undefined;
  };
}
