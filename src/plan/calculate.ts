import type { HeldNode } from '../api/node-configs-http.ts';
import { type Claim, claimNodes } from './claims.ts';
import { baseOf, onItsWayOut, planClaim } from './node-plan.ts';
import type { NodePlan, Plan, PlanInput, Problem } from './plan.ts';
import { removalOf } from './removal.ts';
import { compareText, isOwn, type View, viewOf } from './view.ts';

/**
 * What has to be posted and deleted so that the business cluster holds what the OpenstackConfig selects. Pure: equal
 * input gives an equal plan, whatever order its lists have.
 */
export function calculate(input: PlanInput): Plan {
  if (input.removals === 'held') return planAll(viewOf(input, true));
  const plan = planAll(viewOf(input, false));
  const limit = Math.max(10, Math.floor(0.2 * input.cloudInterfaces));
  const count = removalsAtOnce(plan, input);
  if (input.removals === 'allowed' || count <= limit) return plan;
  const held = planAll(viewOf(input, true));
  // It waits for somebody, what else is unclear perhaps for this.
  return { ...held, problems: [removalHeld(count, limit), ...held.problems] };
}

/**
 * How many NICs go although nobody edited the CR. Those whose evidence has not been read yet count as well, else a large
 * removal would slip through in portions.
 */
function removalsAtOnce({ nodes, ask }: Plan, { recentRemovals }: PlanInput): number {
  const confirmed = nodes
    .filter(({ action }) => action !== 'none')
    .flatMap(({ removals }) => removals.confirmed)
    .filter(({ explicit }) => !explicit).length;
  return confirmed === 0 ? 0 : confirmed + ask.length + recentRemovals;
}

function planAll(view: View): Plan {
  const claims = claimNodes(view);
  const outcomes = claims.map((claim) => planClaim(claim, view));
  const nodes = [
    ...outcomes.flatMap(({ node }) => node ?? []),
    ...planLeftovers(claims, view),
  ].toSorted(
    (a, b) => compareText(a.nodeName, b.nodeName) || compareText(a.instanceId, b.instanceId),
  );
  const delivered = nodes.map(({ interfaces }) => interfaces.length);
  return {
    nodes,
    problems: [...lostServers(claims, view), ...outcomes.flatMap(({ problems }) => problems)],
    ask: outcomes.flatMap(({ ask }) => ask),
    summary: {
      servers: new Set(view.input.selection.serverIds).size,
      nodes: delivered.filter((count) => count > 0).length,
      interfaces: delivered.reduce((sum, count) => sum + count, 0),
      filteredPorts: outcomes.reduce((sum, { filteredPorts }) => sum + filteredPorts, 0),
    },
  };
}

function lostServers(claims: readonly Claim[], view: View): Problem[] {
  return claims.flatMap(({ serverId }) => {
    const deleted = view.servers.get(serverId)?.status === 'DELETED';
    if (!deleted && !view.missingServers.has(serverId)) return [];
    return [
      {
        reason: 'ServerNotFound',
        subject: `server ${serverId}`,
        field: 'spec.vmNames',
        value: serverId,
        message: `server ${serverId} of spec.vmNames ${deleted ? 'is deleted' : 'does not exist in the project'}; correct spec.vmNames`,
      } as const,
    ];
  });
}

function removalHeld(count: number, limit: number): Problem {
  const message = `${count} NICs would be removed at once, more than the ${limit} that go without asking; if this is right, set the annotation multinic.io/allow-removals to a new value`;
  return { reason: 'RemovalHeld', subject: 'spec', message };
}

/** Plans the objects of this CR that no selected server uses. */
function planLeftovers(claims: readonly Claim[], view: View): NodePlan[] {
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
