import type { HeldNode } from '../api/node-configs-http.ts';
import { isOwn } from '../plan/claims.ts';
import type { Owner } from '../plan/plan.ts';
import type { StoredNode } from '../store/node-configs.ts';
import type { SyncResult } from './sync.ts';

/** The OpenstackConfig's nodes as the business cluster holds them after a delivery: what the inventory shows. */
export function nodesAfter(
  { held, nodes: plans, delivery }: Pick<SyncResult, 'held' | 'nodes' | 'delivery'>,
  owner: Owner,
): StoredNode[] {
  const nodes = new Map(
    held.filter((node) => isOwn(node, owner)).map((node) => [node.nodeName, storedFrom(node)]),
  );
  const posted = plans.filter(({ action }) => action === 'post');
  const planned = new Map(posted.map((node) => [node.nodeName, node]));
  for (const { nodeName, uid, generation } of delivery.accepted) {
    const node = planned.get(nodeName);
    if (!node) continue;
    const { instanceId, interfaces } = node;
    nodes.set(nodeName, { nodeName, instanceId, interfaces, uid, generation });
  }
  return [...nodes.values()];
}

function storedFrom({ nodeName, uid, generation, spec }: HeldNode): StoredNode {
  const { instanceId = '', interfaces = [] } = spec;
  return { nodeName, instanceId, interfaces, uid, generation };
}
