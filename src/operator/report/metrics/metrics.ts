import type { metricTable } from '../../../api/metrics.ts';
import { refOf } from '../../../kube/object.ts';
import type { Metrics } from '../../../process/metrics.ts';
import type { RequestSample } from '../../../requests/caller.ts';
import type { CloudAges } from '../../cloud/cloud-age.ts';
import type { Delivery } from '../../clusters/deliver/deliver.ts';
import type { OperatorMetrics } from '../../model/metrics.ts';
import { blockedRemovals, type DeliveredMemories, totalDelivered } from './delivered-nodes.ts';
import { operationOf } from './operation.ts';

/** Most objects with series per metric, for any number of OpenstackConfigs. */
const mostSeries = 100;

/** Counts a request to OpenStack or Contrabass; status 0: no answer. */
export function countRequest(metrics: OperatorMetrics, sample: RequestSample): void {
  const { service, outcome, durationMs } = sample;
  const status = typeof outcome === 'number' ? String(outcome) : '0';
  const operation = operationOf(sample);
  metrics.count('multinic_openstack_requests_total', { service, operation, status });
  const labels = { operation, status };
  metrics.observe('multinic_openstack_request_duration_seconds', labels, durationMs / 1000);
}

/** Counts a delivery's nodes by result. */
export function countDelivery(
  metrics: OperatorMetrics,
  provider: string,
  { accepted, removed, failures }: Delivery,
): void {
  const count = (result: string, by: number): void => {
    if (by > 0) metrics.count('multinic_nodes_delivered_total', { provider, result }, by);
  };
  for (const [status, list] of Map.groupBy(accepted, (node) => node.status))
    count(status, list.length);
  count('deleted', removed.length);
  count('error', failures.filter(({ reason }) => reason === 'ViolaPostError').length);
}

/** Exports node and NIC states, blocked removals, and the age of each cloud's last complete read. */
export function sampleDelivered(
  metrics: Pick<Metrics<typeof metricTable>, 'sampleEach'>,
  memories: DeliveredMemories,
  cloudAges: Pick<CloudAges, 'ages'>,
): void {
  const states = (what: 'nodes' | 'interfaces') => () =>
    [...totalDelivered(memories, what)]
      .slice(0, mostSeries)
      .flatMap(([provider, counts]) =>
        [...counts].map(([state, value]) => ({ labels: { provider, state }, value })),
      );
  metrics.sampleEach('multinic_delivered_nodes', states('nodes'));
  metrics.sampleEach('multinic_delivered_interfaces', states('interfaces'));
  metrics.sampleEach('multinic_removals_held', () =>
    blockedRemovals(memories)
      .slice(0, mostSeries)
      .map(({ key, count }) => {
        const { namespace = '', name } = refOf(key);
        return { labels: { config_namespace: namespace, config: name }, value: count };
      }),
  );
  metrics.sampleEach('multinic_cloud_look_age_seconds', () =>
    cloudAges
      .ages()
      .slice(0, mostSeries)
      .map(({ cloud, seconds }) => ({ labels: { cloud }, value: seconds })),
  );
}
