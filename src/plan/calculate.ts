import { counted } from '../api/counted.ts';
import {
  decideRemovals,
  type RemovalBasis,
  type RemovalDecision,
  removalLimits,
} from '../api/removals.ts';
import { type Claim, claimNodes } from './claims.ts';
import { planLeftovers } from './leftovers.ts';
import { planClaim } from './node-plan.ts';
import type { NodePlan, Plan, PlanInput, PortVerdict, Problem } from './plan.ts';
import { compareText, isOwn, nicAt, type View, viewOf } from './view.ts';

/**
 * Calculates the posts and deletes that bring the business cluster to the OpenstackConfig's selection. Pure: equal
 * input gives an equal plan, in any list order.
 */
export function calculate(input: PlanInput): Plan {
  const steps = calculateInSteps(input);
  for (;;) {
    const { done, value } = steps.next();
    if (done) return value;
  }
}

/**
 * Calculates the same plan in steps (view, claims, each node), so that callers with thousands of nodes can interleave
 * other work.
 */
export function* calculateInSteps(input: PlanInput): Generator<undefined, Plan> {
  const plan = yield* planAll(viewOf(input, noneHeld));
  const decision = decide(plan, input);
  if (decision.held.size === 0) return plan;
  const kept = yield* planAll(viewOf(input, decision.held));
  // Held removals come first: the other problems may only wait for consent.
  const problems = [...heldProblems(plan, decision), ...kept.problems];
  return { ...kept, problems, heldRemovals: decision.held.size };
}

const noneHeld: ReadonlySet<string> = new Set();

/** Decides which NIC removals wait for consent. */
function decide(plan: Plan, input: PlanInput): RemovalDecision {
  // The delivery reports nodes that a legacy Viola cannot remove, with or without consent.
  const losing = plan.nodes.filter((node) => !input.keepsNodes || node.interfaces.length > 0);
  const going = nicsGoing(losing);
  const hasConsent = input.removals === 'allowed';
  const decision = decideRemovals({
    removals: going.map(({ item, basis }) => ({ item, basis, hasConsent })),
    recent: [...input.recentRemovals, ...nicsWithoutEvidence(plan)],
    total: input.cloudInterfaces,
    limit: removalLimits.nicsOfCloud,
  });
  if (input.removals !== 'held') return decision;
  return { ...decision, held: new Set(going.map(({ item }) => item)) };
}

/** NICs without evidence so far. Counting them prevents a large removal in portions. */
function nicsWithoutEvidence({ nodes, ask, askServers }: Plan): string[] {
  const unreadServers = new Set(askServers);
  const unread = nodes
    .filter(({ instanceId }) => unreadServers.has(instanceId))
    .flatMap(({ instanceId, interfaces }) => interfaces.map((nic) => nicAt(instanceId, nic)));
  return [...ask.map((question) => nicAt(question.serverId, question)), ...unread];
}

/** Returns the NICs that nodes lose. */
export function nicsGoing(
  nodes: readonly NodePlan[],
): { readonly item: string; readonly basis: RemovalBasis }[] {
  return nodes
    .filter(({ action }) => action !== 'none')
    .flatMap(({ instanceId, removals }) =>
      removals.confirmed.map((removal) => ({
        item: nicAt(instanceId, removal),
        basis: removal.basis,
      })),
    );
}

function heldProblems({ nodes }: Plan, { held, count, allowed }: RemovalDecision): Problem[] {
  const sideEffects = nodes.filter(({ instanceId, removals }) =>
    removals.confirmed.some(
      (removal) => removal.basis === 'sideEffect' && held.has(nicAt(instanceId, removal)),
    ),
  );
  return [
    ...(count > allowed ? [tooMany(count, allowed)] : []),
    ...sideEffects.map(sideEffectHeld),
  ];
}

function tooMany(count: number, allowed: number): Problem {
  const message = `${counted(count, 'NIC')} would be removed at once, more than the ${allowed} that need no consent; ${howToAllow}`;
  return { reason: 'RemovalHeld', subject: 'spec', message };
}

function sideEffectHeld({ nodeName, why }: NodePlan): Problem {
  const subject = `node ${nodeName}`;
  const message = `${subject}: its NICs stay, because neither OpenStack nor an edit of this object confirms their removal (${why}); ${howToAllow}`;
  return { reason: 'RemovalHeld', subject, message };
}

const howToAllow = 'to remove them, set the annotation multinic.io/allow-removals to a new value';

function* planAll(view: View): Generator<undefined, Plan> {
  yield;
  const claims = claimNodes(view);
  yield;
  const outcomes: ReturnType<typeof planClaim>[] = [];
  for (const claim of claims) {
    outcomes.push(planClaim(claim, view));
    yield;
  }
  const leftovers = planLeftovers(claims, portsByServer(outcomes), view);
  const nodes = [...outcomes.flatMap(({ node }) => node ?? []), ...leftovers.nodes]
    .toSorted(
      (a, b) => compareText(a.nodeName, b.nodeName) || compareText(a.instanceId, b.instanceId),
    )
    .map((node) => (isForeign(node, view) ? { ...node, isForeign: true } : node));
  const delivered = nodes.map((node) => (node.isForeign ? 0 : node.interfaces.length));
  const ports = outcomes.flatMap((outcome) => outcome.ports);
  return {
    nodes,
    problems: [
      ...lostServers(claims, view),
      ...outcomes.flatMap(({ problems }) => problems),
      ...leftovers.problems,
    ],
    ports,
    ask: outcomes.flatMap(({ ask }) => ask),
    askServers: leftovers.askServers,
    summary: {
      servers: new Set(view.input.selection.serverIds).size,
      nodes: delivered.filter((count) => count > 0).length,
      interfaces: delivered.reduce((sum, count) => sum + count, 0),
      filteredPorts: unusedPorts(ports).length,
    },
  };
}

function portsByServer(outcomes: readonly ReturnType<typeof planClaim>[]) {
  return new Map(
    outcomes.flatMap(({ node }) => {
      if (!node) return [];
      const ids = node.interfaces.flatMap(({ portId }) => portId ?? []);
      return [[node.instanceId, new Set(ids)] as const];
    }),
  );
}

/** True if the object stays with another OpenstackConfig: nothing is sent now or after a deletion. */
function isForeign(
  { nodeName, action, waiting }: NodePlan,
  { existingByName, input }: View,
): boolean {
  const existing = action === 'none' && !waiting ? existingByName.get(nodeName) : undefined;
  return existing?.source !== undefined && !isOwn(existing, input);
}

/**
 * Returns reportable ports with an address in a selected subnet: ports without NIC, and NICs that consent would
 * remove.
 */
export function unusedPorts(ports: readonly PortVerdict[]): readonly PortVerdict[] {
  return ports.filter(({ address, reason }) => address !== undefined && reason !== undefined);
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
