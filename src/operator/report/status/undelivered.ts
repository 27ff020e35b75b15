import { type Condition, findCondition } from '../../../api/condition.ts';
import { namedSome } from '../../../api/named-some.ts';
import type { NodePlan } from '../../../plan/plan.ts';
import type { SyncResult } from '../result.ts';

/** Longest time with Ready True while the business cluster lacks an object with the planned content. */
const patienceMs = 5 * 60_000;

/**
 * Returns planned content missing in the business cluster, with node, port and cause. A NIC waiting for a
 * free name does not count: its object already has all planned content.
 */
export function undelivered(
  synced: Pick<SyncResult, 'nodes' | 'ports' | 'held' | 'delivery'>,
): string[] {
  const { nodes, held, delivery } = synced;
  const deleted = new Set(held.flatMap((node) => (node.deletionTimestamp ? node.nodeName : [])));
  const changing = new Set(delivery.waiting);
  const late = nodes
    .filter(({ isForeign, interfaces }) => !isForeign && interfaces.length > 0)
    .flatMap((node) => {
      if (deleted.has(node.nodeName))
        return textOf(node, 'its former MultiNicNodeConfig is still being deleted');
      return changing.has(node.nodeName)
        ? textOf(node, 'its MultiNicNodeConfig is being changed or deleted')
        : [];
    });
  return [...late, ...blockedServers(synced)];
}

function textOf({ nodeName, interfaces }: NodePlan, cause: string): string {
  const ports = interfaces.map(({ portId = '' }) => portId);
  return `node ${nodeName}: ${portsText(ports)} not delivered: ${cause}`;
}

/** Returns the servers with a new object that waits for an old object's deletion. */
function blockedServers({ nodes, ports }: Pick<SyncResult, 'nodes' | 'ports'>): string[] {
  const waiting = ports.filter(({ reason, nic }) => reason === 'Waiting' && nic === undefined);
  const names = new Map(nodes.map(({ instanceId, nodeName }) => [instanceId, nodeName]));
  return [...Map.groupBy(waiting, ({ serverId }) => serverId)].map(([serverId, all]) => {
    const node = names.get(serverId) ?? `of server ${serverId}`;
    const text = portsText(all.map(({ portId }) => portId));
    return `node ${node}: ${text} not delivered: ${all[0]?.message}`;
  });
}

function portsText(ids: readonly string[]): string {
  return `port ${namedSome(ids, 1)} ${ids.length > 1 ? 'are' : 'is'}`;
}

/** Returns whether content has been missing long enough for Ready False; the status stores the start time. */
export function isLasting(previous: readonly Condition[], now: Date): boolean {
  const { status, lastTransitionTime } = findCondition(previous, 'Delivered') ?? {};
  if (status !== 'False' || lastTransitionTime === undefined) return false;
  return now.getTime() - Date.parse(lastTransitionTime) >= patienceMs;
}
