import { counted } from '../api/counted.ts';
import { coveredNics, type WaitingNic, wasOverBudget } from '../api/held-nics.ts';
import {
  allowedIn,
  type BudgetScope,
  countsInBudget,
  decideRemovals,
  exceededBudget,
  type NicRemoval,
} from '../api/removals.ts';
import type { KeptNic, NodePlan, Plan, PlanInput, PlannedUse, Problem, Removal } from './plan.ts';
import { nameOf } from './port-verdict.ts';
import { nicAt } from './view.ts';

/** Message prefix for removals above a budget; later syncs read the prefix in the status. */
export const overBudget = 'OverBudget: ';
/** Message prefix for held side effects. */
export const sideEffect = 'SideEffect: ';

/** Decision about a plan's removals. */
export interface GateDecision {
  /** NICs (`nicAt`) waiting for consent. */
  readonly held: ReadonlySet<string>;
  /** NICs released by the user's consent; kept NICs by MAC address. */
  readonly consented: ReadonlySet<string>;
  /** NICs that wait for another consent. */
  readonly waiting: readonly WaitingNic[];
  readonly budgets: readonly PlannedUse[];
  readonly consentFor?: Plan['consentFor'];
  readonly problems: readonly Problem[];
}

/** NIC with a planned removal. */
interface GoingNic extends NicRemoval {
  /** Key (`nicAt`). */
  readonly nic: string;
  readonly node: NodePlan;
  readonly macAddress: string;
}

/** Decides which NIC removals wait for consent. */
export function decideGate(plan: Plan, input: PlanInput): GateDecision {
  const going = goingIn(plan.nodes, input);
  const budgets = budgetsWith(going, plan, input);
  const before = decidedBefore(going, plan, input);
  if (before) return { ...before, budgets };
  const isHeld = input.removals !== 'guarded' || wasHeldAboveBudget(going, input);
  const held = decideRemovals(going, { budgets, isHeld }).held.map(({ removal }) => removal);
  const kept = keptIn(stayingNodes(held, plan), input);
  const needs = needsIn(held, kept, plan, input);
  const covered = withoutPartialDeletes(needs, coveredNics(input.consent?.digests ?? '', needs));
  const consented = new Set([...covered].map(nicOf));
  const waiting = needs.filter((need) => !covered.has(need));
  const rest = held.filter(({ nic }) => !consented.has(nic));
  const stillKept = kept.filter(({ nic }) => !consented.has(nic));
  const problems = [
    ...overBudgetProblem(rest, budgets, input),
    ...[...new Set(rest.flatMap(sideEffectsOf))].map(sideEffectHeld),
    ...consentProblem(rest.length + stillKept.length, input),
  ];
  const counts = { nics: countOf(covered, 'nic'), nodes: countOf(covered, 'subject') };
  return {
    held: new Set(rest.map(nicOf)),
    consented,
    waiting,
    budgets,
    problems,
    ...(covered.size > 0 ? { consentFor: counts } : {}),
  };
}

/** Drops the NICs on nodes whose deletion would remove further NICs: a DELETE is for all NICs on its node. */
function withoutPartialDeletes(
  needs: readonly Need[],
  covered: ReadonlySet<Need>,
): ReadonlySet<Need> {
  const rest = needs.filter((need) => need.node.action === 'delete' && !covered.has(need));
  const partial = new Set(rest.map(({ node }) => node));
  return new Set([...covered].filter(({ node }) => !partial.has(node)));
}

/** True if an earlier sync of this generation held one of these removals: all wait until consent or an undo. */
function wasHeldAboveBudget(going: readonly GoingNic[], input: PlanInput): boolean {
  const counting = going.filter(countsInBudget);
  return wasOverBudget(
    input.storedHold,
    counting.map((removal) => needOf(removal, input)),
  );
}

/** Returns the nodes that no allowed DELETE removes: a DELETE waits for none of its NICs. */
function stayingNodes(held: readonly GoingNic[], { nodes }: Plan): readonly NodePlan[] {
  const heldNodes = new Set(held.map(({ node }) => node));
  return nodes.filter((node) => node.action !== 'delete' || heldNodes.has(node));
}

/** Returns the NICs that a consent would release. */
function needsIn(
  held: readonly GoingNic[],
  kept: readonly Need[],
  plan: Plan,
  input: PlanInput,
): Need[] {
  const needs = [
    ...held.map((removal) => ({
      ...needOf(removal, input),
      isOverBudget: countsInBudget(removal),
    })),
    ...kept,
    ...unreadIn(plan, input),
    ...unpluggedIn(plan, input),
  ];
  return [...new Map(needs.map((need) => [`${need.nic} ${need.macAddress}`, need])).values()];
}

/**
 * Returns the decision about a repeated plan, which removes NICs from the first plan, and further NICs only with evidence;
 * undefined: first plan.
 */
function decidedBefore(
  going: readonly GoingNic[],
  plan: Plan,
  input: PlanInput,
): Omit<GateDecision, 'budgets'> | undefined {
  const { decided } = input;
  if (decided === undefined) return undefined;
  const held = going.filter(
    (removal) =>
      !decided.has(removal.nic) && (removal.basis !== 'evidence' || countsInBudget(removal)),
  );
  const consented = [...going, ...keptIn(plan.nodes, input), ...unreadIn(plan, input)].filter(
    ({ nic }) => decided.get(nic) === 'consent',
  );
  return {
    held: new Set(held.map(nicOf)),
    consented: new Set(consented.map(nicOf)),
    waiting: [],
    problems: [],
  };
}

/**
 * Returns the NICs lost by nodes. A legacy Viola, and a controller of an earlier version, check no evidence against the
 * node: evidence counts in the budget there.
 */
export function goingIn(
  nodes: readonly NodePlan[],
  { keepsNodes = false, held }: Pick<PlanInput, 'keepsNodes' | 'held'>,
): GoingNic[] {
  const unchecked = new Set(held.filter(isOfEarlierController).map(({ nodeName }) => nodeName));
  return (
    nodes
      // The delivery reports nodes that a legacy Viola cannot remove, with or without consent.
      .filter(({ action, interfaces, deleteBasis }) => {
        const isFirst = action !== 'none' && deleteBasis === undefined;
        return isFirst && (!keepsNodes || interfaces.length > 0);
      })
      .flatMap((node) =>
        node.removals.confirmed.map((removal) => ({
          nic: nicAt(node.instanceId, removal),
          node,
          macAddress: removal.macAddress,
          basis: removal.basis,
          isContradicted: keepsNodes || unchecked.has(node.nodeName),
        })),
      )
  );
}

/** Records of earlier controllers do not name the requested NICs. */
function isOfEarlierController({ status }: PlanInput['held'][number]): boolean {
  return status?.applied !== undefined && status.applied.requested === undefined;
}

/** Returns the budgets with this plan's removals. */
function budgetsWith(going: readonly GoingNic[], plan: Plan, input: PlanInput): PlannedUse[] {
  const recorded = new Set(input.recordedNics);
  const recordedNodes = new Set(input.recordedNics.map((nic) => nic.split(' ')[0] ?? ''));
  const counts = going.filter(countsInBudget);
  const nics = new Set(
    [...counts.map(nicOf), ...nicsWithoutEvidence(counts, plan, input)].filter(
      (nic) => !recorded.has(nic),
    ),
  );
  const nodes = new Set(
    counts.map(({ node }) => node.instanceId).filter((id) => !recordedNodes.has(id)),
  );
  return input.budgets.map((budget) => {
    const more = budget.scope === 'clusterNodes' ? nodes.size : nics.size;
    return { ...budget, used: budget.used + more, allowed: allowedIn(budget) };
  });
}

/** NICs without evidence so far. Counting them prevents a large removal in portions. */
function nicsWithoutEvidence(
  counts: readonly GoingNic[],
  { nodes, ask, askServers }: Plan,
  { keepsNodes = false }: PlanInput,
): string[] {
  if (!keepsNodes || counts.length === 0) return [];
  const unreadServers = new Set(askServers);
  const unread = nodes
    .filter(({ instanceId }) => unreadServers.has(instanceId))
    .flatMap(({ instanceId, interfaces }) => interfaces.map((nic) => nicAt(instanceId, nic)));
  return [...ask.map((question) => nicAt(question.serverId, question)), ...unread];
}

/** Removal without evidence or budget. */
interface Need extends WaitingNic {
  readonly nic: string;
  readonly node: NodePlan;
}

function needOf({ nic, node, macAddress }: GoingNic, input: PlanInput): Need {
  return { nic, ...heldNic(node, macAddress, input) };
}

/** Returns a NIC's identity in `status.heldRemovals`; a legacy Viola's uids change with each POST. */
function heldNic(
  node: NodePlan,
  macAddress: string,
  { providerId: cluster }: PlanInput,
): Omit<Need, 'nic'> {
  const { instanceId, base } = node;
  return { node, cluster, subject: instanceId || (base?.uid ?? ''), macAddress };
}

/** Returns the NICs kept by controllers without evidence. */
function keptIn(nodes: readonly NodePlan[], input: PlanInput): Need[] {
  return nodes.flatMap((node) =>
    keptOn(node).map((nic) => ({
      nic: keptKey(node.instanceId, nic),
      ...heldNic(node, nic.macAddress, input),
    })),
  );
}

/** Returns a node's kept NICs without evidence; an earlier controller names none. */
function keptOn({ keptNics }: NodePlan): readonly Pick<KeptNic, 'macAddress'>[] {
  if (keptNics?.length === 0) return [{ macAddress: '' }];
  return keptNics?.filter(({ basis }) => basis === 'sideEffect') ?? [];
}

/** Returns a kept NIC's key; an empty MAC address stands for NICs without names. */
export function keptKey(instanceId: string, { macAddress }: Pick<KeptNic, 'macAddress'>): string {
  return nicAt(instanceId, { macAddress });
}

/** Returns NICs covered by a consent after a port read, or with a legacy Viola after an evidence read. */
function unreadIn(plan: Plan, input: PlanInput): Need[] {
  return plan.nodes.flatMap((node) =>
    node.removals.unconfirmed
      .filter((removal) => isUnread(removal, input))
      .map((removal) => ({
        nic: nicAt(node.instanceId, removal),
        ...heldNic(node, removal.macAddress, input),
      })),
  );
}

function isUnread({ cause }: Removal, { keepsNodes = false }: PlanInput): boolean {
  return cause === 'noAddress' || (keepsNodes && cause === 'unconfirmed');
}

/** Returns the NICs of ports that Nova did not plug: they stay until a consent. */
function unpluggedIn({ nodes, ports }: Plan, input: PlanInput): Need[] {
  const names = new Set(
    ports
      .filter(({ reason, nic }) => reason === 'PortNotPlugged' && nic !== undefined)
      .map(({ serverId, nic }) => `${serverId} ${nic}`),
  );
  if (names.size === 0) return [];
  return nodes.flatMap((node) =>
    node.interfaces
      .filter((entry) => names.has(`${node.instanceId} ${nameOf(entry)}`))
      .map((entry) => ({
        nic: nicAt(node.instanceId, entry),
        ...heldNic(node, entry.macAddress, input),
      })),
  );
}

function countOf(needs: ReadonlySet<Need>, key: keyof Need): number {
  return new Set([...needs].map((need) => need[key])).size;
}

function nicOf({ nic }: { readonly nic: string }): string {
  return nic;
}

function overBudgetProblem(
  held: readonly GoingNic[],
  budgets: readonly PlannedUse[],
  { removals }: PlanInput,
): Problem[] {
  const count = new Set(held.filter(countsInBudget).map(nicOf)).size;
  if (count === 0) return [];
  const budget = exceededBudget(budgets) as PlannedUse | undefined;
  const why = budget ? overText(budget) : waitText(count, removals);
  const message = `${overBudget}${why}; to remove them, set the annotation multinic.io/allow-removals to a new value; to keep them, undo the edit`;
  return [{ reason: 'RemovalHeld', subject: 'spec', message }];
}

function waitText(count: number, removals: PlanInput['removals']): string {
  const nics = counted(count, 'NIC');
  return removals === 'unreadable'
    ? `status.removals cannot be read, so the removals of the last hour are unknown, and ${nics} would be removed`
    : `${nics} would be removed, and an earlier sync of this generation held removals above the budget`;
}

/** Returns the problem of a consent that does not cover all held and kept NICs. */
function consentProblem(count: number, { consent, refusal }: PlanInput): Problem[] {
  if (count === 0 || (consent === undefined && refusal === undefined)) return [];
  const message = refusal ?? beyondConsent(count, consent?.value ?? '');
  return [{ reason: 'RemovalHeld', subject: 'spec', message }];
}

/** Returns why NICs still wait although a consent exists. */
export function beyondConsent(count: number, value: string): string {
  const nics = counted(count, 'NIC');
  const them = count === 1 ? 'it' : 'them';
  return `the consent "${value}" does not cover ${nics}: it covers only NICs held when it was given, and deletes a node only if it covers all NICs on the node; to remove ${them}, set the annotation multinic.io/allow-removals to a new value`;
}

/** Returns an exceeded budget's use in words. */
export function overText({ scope, used, total, allowed }: PlannedUse): string {
  const [noun, verb] = scopeTexts[scope];
  return `${used} of ${counted(total, noun)} ${verb} within an hour, more than the ${allowed} that need no consent`;
}

const scopeTexts: Readonly<Record<BudgetScope, readonly [noun: string, verb: string]>> = {
  clusterNodes: ['node', 'in the business cluster would lose NICs'],
  clusterNics: ['NIC', 'in the business cluster would be removed'],
  configNics: ['NIC', 'of this OpenstackConfig would be removed'],
};

function sideEffectsOf({ basis, node }: GoingNic): NodePlan[] {
  return basis === 'sideEffect' ? [node] : [];
}

function sideEffectHeld({ nodeName, why }: NodePlan): Problem {
  const subject = `node ${nodeName}`;
  const message = `${sideEffect}${subject}: its NICs stay, because neither OpenStack nor an edit of this object confirms their removal (${why}); to remove them, set the annotation multinic.io/allow-removals to a new value`;
  return { reason: 'RemovalHeld', subject, message };
}
