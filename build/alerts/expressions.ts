import type { ReasonAlert } from '../../src/api/reasons/reason-row.ts';
import { reasonsOf } from '../../src/api/reasons.ts';

/** Lease names; the holder is the leader. */
export const leases = {
  operator: 'multinic-operator',
  controller: 'multinic-agent-controller',
  lifecycle: 'multinic-lifecycle',
} as const;

/**
 * Returns the leader's gauge: a former leader still shows outdated values. `labels`: labels on the gauge; Prometheus adds labels, equal for
 * all metrics from the same process.
 */
export function ofLeader(
  gauge: string,
  part: keyof typeof leases,
  labels: readonly string[],
): string {
  const ignored = [...labels, 'lease'].join(', ');
  return `${gauge} and ignoring (${ignored}) (multinic_leader{lease="${leases[part]}"} == 1)`;
}

/** Gauges of objects that are not Ready, with the part that shows them. */
const notReadyGauges = {
  openstackConfigs: { metric: 'multinic_openstack_configs_not_ready', part: 'operator' },
  nodeConfigs: { metric: 'multinic_node_configs_not_ready', part: 'controller' },
  bizConfigs: { metric: 'multinic_biz_configs_not_ready', part: 'controller' },
} as const;

/** Returns the number of objects that are not Ready for the alert's reasons, by reason, from the leader. */
export function notReady(objects: keyof typeof notReadyGauges, alert: ReasonAlert): string {
  const reasons = reasonsOf(alert);
  const { metric, part } = notReadyGauges[objects];
  const matches = reasons.length > 1 ? '=~' : '=';
  const gauge = `${metric}{reason${matches}"${reasons.join('|')}"}`;
  return `sum by (cluster, reason) (${ofLeader(gauge, part, ['reason'])}) > 0`;
}
