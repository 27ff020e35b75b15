import type { InterfaceSpec } from '../api/multinicnodeconfig.ts';
import type { ExistingNodeConfig } from '../api/node-configs-http.ts';
import type { Block, Claim } from './claims.ts';
import { type InterfacePlan, planInterfaces } from './interfaces.ts';
import { keptNicsOf, keptProblem } from './kept-nics.ts';
import type { Question } from './observation.ts';
import { isOfCloud, isOfName, isOfThis, isSuccession, isUnverified } from './ownership.ts';
import type { NodePlan, PortVerdict, Problem, Removal } from './plan.ts';
import { verdictsOfBlocked } from './port-verdict.ts';
import type { Place } from './removal.ts';
import { succeed } from './succession.ts';
import type { ExistingObject, View } from './view.ts';

/** Plan for one node, with its problems and evidence requests. */
export interface NodeOutcome {
  readonly node: NodePlan | undefined;
  readonly problems: readonly Problem[];
  readonly ask: readonly Question[];
  readonly ports: readonly PortVerdict[];
}

/** Plans a selected server's node; a blocked node stays unchanged. */
export function planClaim(claim: Claim, view: View): NodeOutcome {
  const { serverId, nodeName, existing, blocked } = claim;
  if (blocked) return blockedNode(claim, blocked, view);
  const place = placeOf(claim, view);
  const { own } = place;
  const permitted = permittedPlan(planInterfaces(nodeName, place, existing, view), existing, view);
  if ('problem' in permitted) return blockedNode(claim, { kind: 'problem', ...permitted }, view);
  const { plan } = permitted;
  const { kept, ask } = keptOn(claim, plan, place, view);
  const node: NodePlan = {
    nodeName,
    instanceId: serverId,
    base: existing ? baseOf(existing) : null,
    interfaces: plan.interfaces,
    removals: { confirmed: plan.confirmed, unconfirmed: plan.unconfirmed },
    ...(plan.passedOver ? { passedOver: true } : {}),
    ...(adopts(existing, view) ? { adopts: true } : {}),
    ...replacing(existing, view),
    ...(existing && isUnverified(existing, view.input.owner) ? { isUnverified: true } : {}),
    ...formerCloud(claim, place, view),
    ...kept,
    ...decide(claim, plan, own, view),
  };
  const problems = [
    ...plan.problems,
    ...unconfirmedProblem(nodeName, plan.unconfirmed),
    ...(existing && own ? keptProblem(existing) : []),
  ];
  return { node, problems, ask: [...plan.ask, ...ask], ports: plan.ports };
}

/** Returns the plan as permitted: a succession takes the object over unchanged, or not at all. */
function permittedPlan(plan: InterfacePlan, existing: ExistingObject | undefined, view: View) {
  const isSucceeding = existing !== undefined && isSuccession(existing, view.input);
  return isSucceeding ? succeed(existing, plan, view) : { plan };
}

function placeOf({ serverId, existing }: Claim, { input: { owner } }: View): Place {
  const own = existing !== undefined && isOfThis(existing, owner);
  return { serverId, own, isMoved: !isOfCloud(existing?.source, owner) };
}

/** Evidence about kept NICs counts only for this OpenstackConfig's objects in the same cloud. */
function keptOn({ existing }: Claim, plan: InterfacePlan, place: Place, view: View) {
  return place.own && !place.isMoved
    ? keptNicsOf(existing, plan.interfaces, place.serverId, view)
    : { kept: {}, ask: [] };
}

function formerCloud(claim: Claim, { isMoved }: Place, view: View): Pick<NodePlan, 'cloud'> {
  return isMoved && !isRead(claim, view) ? { cloud: claim.existing?.source?.cloud } : {};
}

type Conflict = Extract<Block, { kind: 'problem' }>;
type Decision = Pick<NodePlan, 'action' | 'waiting' | 'why'>;

function decide(claim: Claim, plan: InterfacePlan, own: boolean, view: View): Decision {
  const { existing } = claim;
  const waiting = plan.waiting.length > 0;
  if (existing === undefined) return newNode(plan, waiting);
  if (existing.deletionTimestamp !== undefined) return deletingObject;
  // A takeover would turn a held removal into this OpenstackConfig's desired state and bypass consent.
  if (!own && isHeldBack(plan))
    return { action: 'none', waiting, why: 'removals wait for consent' };
  const why =
    difference(claim, existing, plan, view) ??
    idDifference(existing, view) ??
    sourceDifference(claim, own, view) ??
    repeatReason(existing, view.input);
  if (why) return { action: 'post', waiting, why };
  return { action: 'none', waiting, why: waiting ? 'waits for a free name' : 'unchanged' };
}

/** Viola lists an object with another id only if a user lets this id take it over. */
function idDifference({ spec }: ExistingObject, { input }: View): string | undefined {
  const { providerId = '' } = spec;
  return providerId === '' || providerId === input.providerId
    ? undefined
    : 'delivered under another id of the business cluster';
}

function sourceDifference(claim: Claim, own: boolean, view: View): string | undefined {
  if (!own) return 'taken over';
  return isIdentified(claim, view) ? undefined : 'source without its cluster or cloud';
}

/** True if the source names this management cluster and cloud, or Viola drops both, as in earlier releases. */
function isIdentified(claim: Claim, view: View): boolean {
  const { owner, storesIdentity } = view.input;
  if (storesIdentity !== true) return true;
  const { cluster, cloud } = claim.existing?.source ?? {};
  if (cluster !== owner.cluster) return false;
  const mayWrite = owner.cloud !== undefined && (cloud === undefined || isRead(claim, view));
  return cloud === owner.cloud || !mayWrite;
}

/** True if the account has read the server and all delivered ports: the same cloud at a new address. */
function isRead({ serverId, existing }: Claim, view: View): boolean {
  const ports = view.portsOf(serverId);
  const isListed = ({ portId, macAddress }: InterfaceSpec) =>
    ports.some((port) =>
      portId ? port.id === portId : port.macAddress.toLowerCase() === macAddress.toLowerCase(),
    );
  return view.servers.has(serverId) && (existing?.spec.interfaces ?? []).every(isListed);
}

/** Viola's limit; older uids are dropped. */
const mostReplaced = 16;

/**
 * Returns the uids that the object was written for before; an OpenstackConfig that finds its uid here stops writing.
 */
function replacing(existing: ExistingObject | undefined, { input: { owner } }: View) {
  const { source } = existing ?? {};
  if (!source || !isOfName(source, owner)) return {};
  const uids = [source.uid, ...(source.replaces ?? [])].filter((uid) => uid !== owner.uid);
  return uids.length === 0 ? {} : { replaces: [...new Set(uids)].slice(0, mostReplaced) };
}

/** Returns why an object without differences is still posted. */
function repeatReason(
  { isUnanswered }: ExistingObject,
  { force }: View['input'],
): string | undefined {
  if (force) return 'requested';
  return isUnanswered ? 'last write unanswered' : undefined;
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
  existing: ExistingObject,
  plan: InterfacePlan,
  view: View,
) {
  const { spec, isMisplaced } = existing;
  if (isMisplaced || spec.instanceId !== serverId) return 'instanceId differs';
  if (!sameInterfaces(spec.interfaces ?? [], plan.interfaces)) return 'interfaces differ';
  return modeDifference(existing, view) ?? consentDifference(existing, view);
}

function modeDifference(
  { pausedToObserve, setToObserve }: ExistingObject,
  { input: { observes = false } }: View,
) {
  // Mode and pause that Viola wrote: a user's own `spec.mode` or pause stays.
  if (observes) return pausedToObserve ? undefined : 'mode Apply becomes Observe';
  return pausedToObserve || setToObserve ? 'mode Observe becomes Apply' : undefined;
}

function consentDifference(existing: ExistingObject, view: View) {
  // Consent that Viola wrote: a user's own `spec.existingConfiguration` stays.
  const { spec, setToAdopt: isSet = false } = existing;
  if (!adopts(existing, view))
    return isSet ? 'existingConfiguration Adopt becomes Refuse' : undefined;
  const isStored = isSet && spec.existingConfiguration === 'Adopt';
  return isStored ? undefined : 'existingConfiguration Refuse becomes Adopt';
}

/** Returns whether the node's object gets consent to adoption. */
function adopts(existing: ExistingObject | undefined, { input: { adoption } }: View): boolean {
  return adoption === 'unknown' ? existing?.setToAdopt === true : adoption === 'consented';
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

/** Returns the server's object unchanged. */
function keptNode({ serverId, nodeName, existing }: Claim, { problem }: Conflict): NodePlan {
  const node = { ...untouched, instanceId: serverId, waiting: false, why: problem.message };
  if (existing?.spec.instanceId !== serverId) return { ...node, nodeName };
  const { interfaces = [] } = existing.spec;
  return { ...node, nodeName: existing.nodeName, base: baseOf(existing), interfaces };
}

const untouched = {
  action: 'none',
  base: null,
  interfaces: [],
  removals: { confirmed: [], unconfirmed: [] },
} as const;

/** An object that is being deleted receives nothing; a new object can follow after the deletion. */
export const deletingObject = {
  action: 'none',
  waiting: true,
  why: 'the object is being deleted',
} as const satisfies Decision;

/** Returns the object state that a plan is computed against. */
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
    const [one, many] = unconfirmedTexts[kind];
    const message = `node ${nodeName}: ${names.join(', ')} ${names.length === 1 ? one : many}`;
    return [{ reason: 'RemovalUnconfirmed', subject: `node ${nodeName}`, message }];
  });
}

const unconfirmedTexts = {
  unconfirmed: [
    'is missing among the ports of the server, but nothing confirms its removal; the NIC stays',
    'are missing among the ports of the server, but nothing confirms their removal; the NICs stay',
  ],
  noAddress: [
    'has no address in a selected subnet; the NIC stays; to remove it, detach the port, or set the annotation multinic.io/allow-removals to a new value',
    'have no address in a selected subnet; the NICs stay; to remove them, detach the ports, or set the annotation multinic.io/allow-removals to a new value',
  ],
} as const;

/** True if both lists have equal entries in any order. */
function sameInterfaces(a: readonly InterfaceSpec[], b: readonly InterfaceSpec[]): boolean {
  if (a.length !== b.length) return false;
  const rest = [...b];
  return a.every((entry) => {
    // Order rarely differs, so the first candidate usually matches.
    const at = rest.findIndex((other) => same(entry, other));
    return at >= 0 && rest.splice(at, 1).length === 1;
  });
}

/** Compares JSON values; an absent key equals an undefined value. */
function same(a: unknown, b: unknown): boolean {
  if (a === b) return true;
  if (!isObject(a) || !isObject(b) || Array.isArray(a) !== Array.isArray(b)) return false;
  for (const key of Object.keys(a)) if (!same(a[key], b[key])) return false;
  return Object.keys(b).every((key) => b[key] === undefined || a[key] !== undefined);
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null;
}
