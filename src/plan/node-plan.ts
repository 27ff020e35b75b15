import { findCondition } from '../api/condition.ts';
import type { InterfaceSpec } from '../api/multinicnodeconfig.ts';
import type { ExistingNodeConfig } from '../api/node-configs-http.ts';
import type { Reason } from '../api/reasons.ts';
import type { Block, Claim } from './claims.ts';
import { type InterfacePlan, planInterfaces } from './interfaces.ts';
import type { Question } from './observation.ts';
import type { NodePlan, PortVerdict, Problem, Removal } from './plan.ts';
import { verdictsOfBlocked } from './port-verdict.ts';
import { type ExistingObject, isOfName, type View } from './view.ts';

/** The plan of one node, with what it could not do and what it wants to know. */
interface NodeOutcome {
  readonly node: NodePlan | undefined;
  readonly problems: readonly Problem[];
  readonly ask: readonly Question[];
  readonly ports: readonly PortVerdict[];
}

/** Plans the node of a selected server; a blocked one stays exactly as it is. */
export function planClaim(claim: Claim, view: View): NodeOutcome {
  const { serverId, nodeName, held, blocked } = claim;
  if (blocked) return blockedNode(claim, blocked, view);
  const own = held?.source?.uid === view.input.owner.uid && isOfName(held.source, view.input.owner);
  const plan = planInterfaces(nodeName, { serverId, own }, held, view);
  const node: NodePlan = {
    nodeName,
    instanceId: serverId,
    base: held ? baseOf(held) : null,
    interfaces: plan.interfaces,
    removals: { confirmed: plan.confirmed, unconfirmed: plan.unconfirmed },
    ...(plan.passedOver ? { passedOver: true } : {}),
    ...replacing(held, view),
    ...(view.input.removals === 'allowed' ? { removalsAllowed: true } : {}),
    ...decide(claim, plan, own, view),
  };
  const problems = [...plan.problems, ...unconfirmedProblem(nodeName, plan.unconfirmed)];
  return { node, problems, ask: plan.ask, ports: plan.ports };
}

type Conflict = Extract<Block, { kind: 'problem' }>;
type Decision = Pick<NodePlan, 'action' | 'waiting' | 'why'>;

function decide(claim: Claim, plan: InterfacePlan, own: boolean, view: View): Decision {
  const { held } = claim;
  const waiting = plan.waiting.length > 0;
  if (held === undefined) return newNode(plan, waiting);
  if (held.deletionTimestamp !== undefined) return deletingObject;
  // Taken over, what is held back would be a wish of this CR from then on, and no question any more.
  if (!own && isHeldBack(plan)) return { action: 'none', waiting, why: 'removals are held back' };
  const why =
    difference(claim, held, plan) ?? (own ? undefined : 'taken over') ?? wishedFor(held, view);
  if (why) return { action: 'post', waiting, why };
  return { action: 'none', waiting, why: waiting ? 'waits for a free name' : 'unchanged' };
}

/** As many as Viola takes; whoever is left out was replaced so many times ago. */
const mostReplaced = 16;

/** Which namesakes the object was written for before: each finds its uid here, and stops writing it. */
function replacing(held: ExistingObject | undefined, { input: { owner } }: View) {
  const { source } = held ?? {};
  if (!source || !isOfName(source, owner)) return {};
  const uids = [source.uid, ...(source.replaces ?? [])].filter((uid) => uid !== owner.uid);
  return uids.length === 0 ? {} : { replaces: [...new Set(uids)].slice(0, mostReplaced) };
}

/** Why an object is posted that says what it is to say. */
function wishedFor(held: ExistingObject, { input }: View): string | undefined {
  if (input.force) return 'asked for';
  if (held.isUnanswered) return 'not answered';
  return input.removals === 'allowed' && isHeldThere(held) ? 'removals are allowed' : undefined;
}

/** Whether the business cluster waits for consent to removals of this object. */
function isHeldThere({ status }: ExistingObject): boolean {
  return findCondition(status?.conditions, 'Ready')?.reason === ('RemovalHeld' satisfies Reason);
}

function newNode({ interfaces }: InterfacePlan, waiting: boolean): Decision {
  return interfaces.length > 0
    ? { action: 'post', waiting, why: 'new' }
    : { action: 'none', waiting, why: 'no port to deliver' };
}

function isHeldBack({ unconfirmed }: InterfacePlan): boolean {
  return unconfirmed.some(({ cause }) => cause !== 'unconfirmed');
}

function difference(
  { serverId }: Claim,
  { spec, isMisplaced }: ExistingObject,
  plan: InterfacePlan,
) {
  if (isMisplaced || spec.instanceId !== serverId) return 'instanceId differs';
  return sameInterfaces(spec.interfaces ?? [], plan.interfaces) ? undefined : 'interfaces differ';
}

function blockedNode(claim: Claim, blocked: Block, view: View): NodeOutcome {
  const node =
    blocked.kind === 'waits' ? waitingNode(claim, blocked.why) : keptNode(claim, blocked);
  return {
    node: node.nodeName === '' ? undefined : node,
    problems: blocked.kind === 'waits' ? [] : [blocked.problem],
    ask: [],
    ports: verdictsOfBlocked(claim, blocked, view),
  };
}

function waitingNode({ serverId, nodeName }: Claim, why: string): NodePlan {
  return { ...untouched, nodeName, instanceId: serverId, waiting: true, why };
}

/** The server's object as it is. */
function keptNode({ serverId, nodeName, held }: Claim, { problem }: Conflict): NodePlan {
  const node = { ...untouched, instanceId: serverId, waiting: false, why: problem.message };
  if (held?.spec.instanceId !== serverId) return { ...node, nodeName };
  const { interfaces = [] } = held.spec;
  return { ...node, nodeName: held.nodeName, base: baseOf(held), interfaces };
}

const untouched = {
  action: 'none',
  base: null,
  interfaces: [],
  removals: { confirmed: [], unconfirmed: [] },
} as const;

/** Nothing is sent for an object that is being deleted; a new one can be made when it is gone. */
export const deletingObject = {
  action: 'none',
  waiting: true,
  why: 'the object is being deleted',
} as const satisfies Decision;

/** The state of an object that a plan is computed against. */
export function baseOf({ uid, generation }: ExistingNodeConfig) {
  return { uid, generation };
}

function unconfirmedProblem(nodeName: string, unconfirmed: readonly Removal[]): Problem[] {
  return (['unconfirmed', 'noAddress'] as const).flatMap((kind): Problem[] => {
    const some = unconfirmed.filter(({ cause }) => cause === kind);
    if (some.length === 0) return [];
    const names = some.map(
      ({ name, portId }) => `${name} (${portId ? `port ${portId}` : 'no portId'})`,
    );
    const message = `node ${nodeName}: ${names.join(', ')} ${doubts[kind]}`;
    return [{ reason: 'RemovalUnconfirmed', subject: `node ${nodeName}`, message }];
  });
}

const doubts = {
  unconfirmed: 'not seen at the server, and nothing proves that it is gone; the NIC stays',
  noAddress:
    'has no address in a selected subnet; the NIC stays; if it is to go, detach the port, or set the annotation multinic.io/allow-removals to a new value',
};

/** Whether two lists of entries say the same, whatever their order. */
function sameInterfaces(a: readonly InterfaceSpec[], b: readonly InterfaceSpec[]): boolean {
  if (a.length !== b.length) return false;
  const rest = [...b];
  return a.every((entry) => {
    // They hardly ever differ in order: the first one is looked at first.
    const at = rest.findIndex((other) => same(entry, other));
    return at >= 0 && rest.splice(at, 1).length === 1;
  });
}

/** Equality of JSON values; an absent key equals an undefined one. */
function same(a: unknown, b: unknown): boolean {
  if (a === b) return true;
  if (!isObject(a) || !isObject(b) || Array.isArray(a) !== Array.isArray(b)) return false;
  for (const key of Object.keys(a)) if (!same(a[key], b[key])) return false;
  return Object.keys(b).every((key) => b[key] === undefined || a[key] !== undefined);
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null;
}
