import { type Claim, claimNodes } from './claims.ts';
import { decideGate, type GateDecision, keptKey } from './gate.ts';
import { isOf } from './kept-nics.ts';
import { planLeftovers, softDeletedProblem } from './leftovers.ts';
import type { NodeOutcome } from './node-plan.ts';
import { type NodePlans, plannerAfter } from './node-plans.ts';
import { isOwn } from './ownership.ts';
import type { KeptNic, NodePlan, Plan, PlanInput, PortVerdict, Problem, Removal } from './plan.ts';
import { compareText, nicAt, type View, viewOf } from './view.ts';

/**
 * Calculates the posts and deletes that bring the business cluster to the OpenstackConfig's selection. Pure: equal
 * input gives an equal plan, in any list order.
 */
export function calculate(input: PlanInput): Plan {
  const steps = calculateInSteps(input);
  for (;;) {
    const { done, value } = steps.next();
    if (done) return value.plan;
  }
}

/** A plan, with node plans for the next calculation; undefined: none are kept. */
export interface Calculation {
  readonly plan: Plan;
  readonly nodePlans?: NodePlans | undefined;
}

/**
 * Calculates the same plan in steps (view, claims, each node), so that callers with thousands of nodes can interleave
 * other work. `former`: node plans of an earlier calculation; nodes without changes are not planned again.
 */
export function* calculateInSteps(
  input: PlanInput,
  former?: NodePlans,
): Generator<undefined, Calculation> {
  const view = viewOf(input, noneHeld);
  const { plan, nodePlans } = yield* planAll(view, former);
  const gate = decideGate(plan, input);
  const { held, budgets, consentFor, waiting } = gate;
  const decided = held.size === 0 ? plan : (yield* planAll(viewOf(input, held), nodePlans)).plan;
  yield;
  const final = {
    ...decided,
    nodes: decided.nodes.map((node) => released(node, gate, view)),
    // Held removals come first: the other problems may only wait for consent.
    problems: [...gate.problems, ...decided.problems],
    budgets,
    heldNics: waiting.map(({ cluster, subject, macAddress, isOverBudget = false }) => ({
      cluster,
      subject,
      macAddress,
      isOverBudget,
    })),
    ...(consentFor ? { consentFor } : {}),
    ...heldCount(decided.nodes, gate),
  };
  return { plan: final, nodePlans };
}

const noneHeld: ReadonlySet<string> = new Set();

/** Counts the removals that wait for consent, in this plan or at a controller. */
function heldCount(
  nodes: readonly NodePlan[],
  { held, consented }: GateDecision,
): Pick<Plan, 'heldRemovals'> {
  const kept = nodes
    .filter(({ action }) => action !== 'delete')
    .flatMap(({ instanceId, keptNics = [] }) =>
      keptNics.filter((nic) => {
        return nic.basis === 'sideEffect' && !consented.has(keptKey(instanceId, nic));
      }),
    );
  const count = held.size + kept.length;
  return count > 0 ? { heldRemovals: count } : {};
}

/** Returns a node with consented removals marked; a release for kept NICs is sent once. */
function released(node: NodePlan, gate: GateDecision, view: View): NodePlan {
  const after = withConsent(node, gate);
  if (after.action !== 'none' || !isNewRelease(after, view)) return after;
  const isDeleting = view.existingByName.get(node.nodeName)?.deletionTimestamp !== undefined;
  const deleteBasis = commonBasis(after);
  const why = deleteBasis === 'consent' ? 'removals allowed' : 'evidence for held removals';
  if (!isDeleting) return { ...after, action: 'post', why };
  return deleteBasis ? { ...after, action: 'delete', why, deleteBasis } : after;
}

/**
 * Returns the kept NICs' common basis, because a DELETE has one basis; undefined: none. A consent must cover all NICs
 * without evidence.
 */
function commonBasis({ keptNics = [], removalsAllowed }: NodePlan): NodePlan['deleteBasis'] {
  if (keptNics.length === 0) return removalsAllowed ? 'consent' : undefined;
  if (keptNics.some(({ basis }) => basis === 'sideEffect')) return undefined;
  return keptNics.every(({ basis }) => basis === 'evidence') ? 'evidence' : 'consent';
}

function withConsent(node: NodePlan, { consented }: GateDecision): NodePlan {
  const { instanceId, removals, keptNics } = node;
  if (consented.size === 0) return node;
  const marked = (removal: Removal): Removal =>
    consented.has(nicAt(instanceId, removal)) ? { ...removal, basis: 'consent' } : removal;
  const [confirmed, unconfirmed] = [
    removals.confirmed.map(marked),
    removals.unconfirmed.map(marked),
  ];
  const kept = keptNics?.map((nic): KeptNic => {
    return consented.has(keptKey(instanceId, nic)) ? { ...nic, basis: 'consent' } : nic;
  });
  const isUnnamed = kept?.length === 0 && consented.has(keptKey(instanceId, unnamed));
  return {
    ...node,
    removals: { confirmed, unconfirmed },
    ...(kept && { keptNics: kept }),
    ...(isUnnamed && { removalsAllowed: true }),
  };
}

/** NICs that an earlier controller keeps without naming them. */
const unnamed = { macAddress: '' } as const;

/** True if a kept NIC has unsent evidence or consent. */
function isNewRelease(
  { keptNics, base, removalsAllowed = false }: NodePlan,
  { input }: View,
): boolean {
  if (keptNics === undefined || base === null) return false;
  const value = input.consent?.value ?? '';
  const isSent = ({ macAddress, basis }: Pick<KeptNic, 'macAddress' | 'basis'>) =>
    input.sentReleases.some(
      (sent) =>
        isOf(sent, base) &&
        sent.macAddress === macAddress &&
        sent.basis === basis &&
        sent.value === (basis === 'consent' ? value : ''),
    );
  if (keptNics.length === 0) return removalsAllowed && !isSent({ ...unnamed, basis: 'consent' });
  return keptNics.some((nic) => nic.basis !== 'sideEffect' && !isSent(nic));
}

function* planAll(view: View, former?: NodePlans): Generator<undefined, Calculation> {
  yield;
  const claims = claimNodes(view);
  yield;
  const outcomes: NodeOutcome[] = [];
  const { plans: nodePlans, planNode } = plannerAfter(former, view);
  for (const claim of claims) {
    outcomes.push(planNode(claim));
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
  const plan = {
    nodes,
    problems: [
      ...lostServers(claims, view),
      ...outcomes.flatMap(({ problems }) => problems),
      ...leftovers.problems,
    ],
    ports,
    ask: outcomes.flatMap(({ ask }) => ask),
    askServers: leftovers.askServers,
    budgets: [],
    heldNics: [],
    summary: {
      servers: new Set(view.input.selection.serverIds).size,
      nodes: delivered.filter((count) => count > 0).length,
      interfaces: delivered.reduce((sum, count) => sum + count, 0),
      filteredPorts: unusedPorts(ports).length,
    },
  };
  return { plan, nodePlans };
}

function portsByServer(outcomes: readonly NodeOutcome[]) {
  return new Map(
    outcomes.flatMap(({ node }) => {
      if (!node) return [];
      const ids = node.interfaces.flatMap(({ portId }) => portId ?? []);
      return [[node.instanceId, new Set(ids)] as const];
    }),
  );
}

/** True if the object is not for this OpenstackConfig: nothing is sent now or after a deletion. */
function isForeign(
  { nodeName, action, waiting }: NodePlan,
  { existingByName, input }: View,
): boolean {
  const existing = action === 'none' && !waiting ? existingByName.get(nodeName) : undefined;
  if (existing === undefined) return false;
  const isOthers = existing.source !== undefined || !input.takesUnowned;
  return isOthers && !isOwn(existing, input.owner, input.force);
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
    const status = view.servers.get(serverId)?.status;
    if (status === 'SOFT_DELETED') return [softDeletedProblem(serverId)];
    const deleted = status === 'DELETED';
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
