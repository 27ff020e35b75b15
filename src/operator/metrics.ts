import type { metricTable } from '../api/metrics.ts';
import type { Metrics } from '../process/metrics.ts';
import type { RequestSample } from '../requests/caller.ts';
import type { Delivery } from './deliver/deliver.ts';

export type OperatorMetrics = Pick<Metrics<typeof metricTable>, 'count' | 'set' | 'observe'>;

/** Name of this controller in metrics that all controllers share. */
export const controllerName = 'openstack-config';

/** Counts one request to OpenStack or Contrabass; status 0 = no answer. */
export function countRequest(metrics: OperatorMetrics, sample: RequestSample): void {
  const { service, method, outcome, durationMs } = sample;
  const status = typeof outcome === 'number' ? String(outcome) : '0';
  metrics.count('multinic_openstack_requests_total', { service, status });
  const operation = `${service} ${method}`;
  const labels = { operation, status };
  metrics.observe('multinic_openstack_request_duration_seconds', labels, durationMs / 1000);
}

/** Counts what became of the nodes of one delivery. */
export function countDelivery(
  metrics: OperatorMetrics,
  provider: string,
  { accepted, removed, failures }: Delivery,
): void {
  const count = (result: string, by: number): void => {
    if (by > 0) metrics.count('multinic_nodes_delivered_total', { provider, result }, by);
  };
  for (const [status, list] of Map.groupBy(accepted, (one) => one.status))
    count(status, list.length);
  count('deleted', removed.length);
  count('error', failures.length);
}
