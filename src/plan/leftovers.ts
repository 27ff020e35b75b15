import type { HeldNode } from '../api/node-configs-http.ts';
import type { Claim } from './claims.ts';
import { baseOf, onItsWayOut } from './node-plan.ts';
import type { NodePlan } from './plan.ts';
import { removalOf } from './removal.ts';
import { isOwn, type View } from './view.ts';

/** Plans the objects of this CR that no selected server uses. */
export function planLeftovers(claims: readonly Claim[], view: View): NodePlan[] {
  const { owner, scope, selection } = view.input;
  const selected = new Set(selection.serverIds);
  // A claim that waits does so for an object that goes.
  const settled = claims.filter(({ blocked }) => blocked?.kind !== 'waits');
  const used = new Set(settled.map((claim) => claim.held));
  const byServer = new Map(claims.map((claim) => [claim.serverId, claim]));

  function leftover(node: HeldNode): NodePlan[] {
    const serverId = node.spec.instanceId ?? '';
    if (!selected.has(serverId))
      return scope === 'all' ? [planLeftover(node, 'deselected', view)] : [];
    const claim = byServer.get(serverId);
    // While a conflict is open nothing of either side is touched.
    const open = claim === undefined || claim.blocked?.kind === 'problem';
    return open ? [] : [planLeftover(node, 'renamed', view)];
  }

  return view.held.filter((node) => isOwn(node, owner) && !used.has(node)).flatMap(leftover);
}

/** The object goes, cleanup on the node included; one that may not go yet stays as it is. */
function planLeftover(held: HeldNode, cause: 'deselected' | 'renamed', view: View): NodePlan {
  const { pinned, serversComplete } = view.input.selection;
  const explicit = cause === 'deselected' && pinned.servers;
  const { interfaces = [], instanceId = '' } = held.spec;
  const removals = interfaces.map((entry) => removalOf(entry, cause, explicit));
  const node = { nodeName: held.nodeName, instanceId, base: baseOf(held) } as const;
  if (!explicit && (view.hold || !serversComplete)) {
    const kept = { interfaces, removals: { confirmed: [], unconfirmed: removals } };
    return { ...node, ...kept, action: 'none', waiting: false, why: `${cause}, held back` };
  }
  const gone = { interfaces: [], removals: { confirmed: removals, unconfirmed: [] } };
  return held.deletionTimestamp === undefined
    ? { ...node, ...gone, action: 'delete', waiting: false, why: cause }
    : { ...node, ...gone, ...onItsWayOut };
}
