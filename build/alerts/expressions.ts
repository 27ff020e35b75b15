/** Names of the leases: who holds one is at work. */
export const leases = {
  operator: 'multinic-operator',
  controller: 'multinic-agent-controller',
  lifecycle: 'multinic-lifecycle',
} as const;

/**
 * Of a gauge what the leader says: a process that led before shows what it knew then. `labels` are those of the gauge; all
 * others come from whoever scrapes it, and are the same for every metric of a process.
 */
export function ofLeader(
  gauge: string,
  part: keyof typeof leases,
  labels: readonly string[],
): string {
  const ignored = [...labels, 'lease'].join(', ');
  return `${gauge} and ignoring (${ignored}) (multinic_leader{lease="${leases[part]}"} == 1)`;
}

/** How many objects the leader says are not Ready for one of these reasons, by reason. */
export function notReady(part: 'operator' | 'controller', reasons: readonly string[]): string {
  const metric = {
    operator: 'multinic_openstack_configs_not_ready',
    controller: 'multinic_node_configs_not_ready',
  }[part];
  const matches = reasons.length > 1 ? '=~' : '=';
  const gauge = `${metric}{reason${matches}"${reasons.join('|')}"}`;
  return `sum by (cluster, reason) (${ofLeader(gauge, part, ['reason'])}) > 0`;
}
