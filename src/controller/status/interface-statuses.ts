import { ipOf } from '../../api/address.ts';
import { rfc3339, shortMessage } from '../../api/condition.ts';
import { type JobResult, type NicResult, nicReason } from '../../api/job.ts';
import { type InterfaceStatus, maxInterfaceStatuses } from '../../api/multinicnodeconfig.ts';
import { interfaceName } from '../../api/names.ts';
import type { Reason } from '../../api/reasons.ts';
import { isSameJson } from '../../api/same-json.ts';
import { isOpen } from '../jobs/evidence.ts';
import type { Entry } from '../jobs/request.ts';
import type { Failure, RunOutcome } from '../jobs/runner.ts';
import type { RunPhase } from './conditions.ts';

interface Nics {
  readonly entries: readonly Entry[];
  readonly situation: RunPhase;
  readonly previous: readonly InterfaceStatus[];
  readonly now: Date;
}

/** One status per entry of the spec, then those of NICs that are to go and are not gone for certain. */
export function interfaceStatuses(nics: Nics): InterfaceStatus[] {
  const wanted = nics.entries.map((entry) => wantedNic(entry, nics));
  // Those that have been leaving longest are last: without room for them nothing at all could be told any more.
  return [...wanted, ...leavingNics(nics)].slice(0, maxInterfaceStatuses);
}

/** What an agent has just reported. */
function reportIn(situation: RunPhase): JobResult | undefined {
  const verdict = situation.kind === 'ended' ? situation.verdict : undefined;
  return verdict?.kind === 'result' ? verdict.result : undefined;
}

function wantedNic(entry: Entry, { situation, previous, now }: Nics): InterfaceStatus {
  const before = previousOf(entry, previous);
  const said = reportIn(situation)?.nics.find(
    ({ mac, state }) => sameMac(mac, entry.mac) && state !== 'Removed',
  );
  const identity = identityOf(entry, said?.name || before?.name);
  if (entry.rejection !== undefined) {
    const word = { status: 'Failed', reason: 'InvalidEntry', message: entry.rejection } as const;
    return nicStatus(identity, word, { before, now });
  }
  if (said) return nicStatus(identity, agentWord(said), { before, now, seenAt: endIn(situation) });
  return (
    checked(entry, identity, situation, { before, now }) ??
    unheard(identity, { before, situation, now })
  );
}

/**
 * The status of a NIC that a check has looked at: when, and with reason `Drifted` where the node differs. It is configured all
 * the same: what follows from the difference is up to the drift policy.
 */
function checked(
  { mac }: Entry,
  nic: NicIdentity,
  situation: RunPhase,
  { before, now }: Pick<Stamp, 'before' | 'now'>,
): InterfaceStatus | undefined {
  const check = situation.kind === 'recorded' ? situation.check : undefined;
  const found = check?.nics.find((one) => sameMac(one.mac, mac) && one.state !== 'Removed');
  if (!check || !found || before?.status !== 'Configured') return undefined;
  const { reason, message } = found;
  const seen = nicStatus(nic, { status: 'Configured', reason, message }, { before, now });
  return { ...seen, lastChecked: rfc3339(check.at) };
}

/** Whether a status tells of a NIC, as it is wanted now, that it is configured. */
export function isConfigured(entry: Entry, statuses: readonly InterfaceStatus[]): boolean {
  const told = previousOf(entry, statuses);
  return told?.status === 'Configured' && isSameJson(wish(told), wish(identityOf(entry)));
}

/** Several entries of one MAC, none of which can be used, are told apart by their places. */
function previousOf({ mac, position }: Entry, previous: readonly InterfaceStatus[]) {
  const same = previous.filter(({ macAddress }) => sameMac(macAddress, mac));
  return same.find(({ interfaceIndex }) => interfaceIndex === position) ?? same[0];
}

/** The status of a NIC that no agent has just spoken about. */
function unheard(
  nic: NicIdentity,
  { before, situation, now }: Pick<Nics, 'situation' | 'now'> & Pick<Stamp, 'before'>,
): InterfaceStatus {
  const sameWish = before && isSameJson(wish(before), wish(nic)) ? before : undefined;
  if (sameWish && situation.kind === 'recorded') {
    return { ...sameWish, ...defined({ interfaceIndex: nic.interfaceIndex }) };
  }
  return nicStatus(nic, wordWithout(situation, sameWish), { before, now });
}

/** The NIC as the spec has it, under the name that it really has. */
function identityOf({ shown, position, mac, index }: Entry, realName?: string): NicIdentity {
  const { portId, address, cidr, mtu } = shown;
  const addresses = shown.addresses?.filter((text) => ipOf(text) !== address) ?? [];
  const name = realName ?? (index === undefined ? undefined : interfaceName(index));
  const id = index;
  return defined({
    name,
    interfaceIndex: position,
    id,
    portId,
    macAddress: mac,
    address,
    ...(addresses.length > 0 ? { addresses: shown.addresses } : {}),
    cidr,
    mtu,
  });
}

function wish({ id, macAddress, address, cidr, mtu }: NicIdentity) {
  return { id, macAddress, address, cidr, mtu };
}

/**
 * NICs that the spec has no more. Each stays in the status, and its index stays taken, until the agent reports it removed
 * or does not know it any more.
 */
function leavingNics({ entries, situation, previous, now }: Nics): InterfaceStatus[] {
  const result = reportIn(situation);
  const wanted = new Set(entries.flatMap(({ mac }) => mac ?? []));
  const gone = previous.filter(
    // What has no MAC, as a CustomResourceDefinition without one leaves it, is nobody's: it would come to more each time.
    ({ macAddress }) => macAddress !== undefined && !wanted.has(macAddress.toLowerCase()),
  );
  const listed = result?.nics.filter(({ mac }) => !wanted.has(mac.toLowerCase())) ?? [];
  const unsaid = gone.filter(
    ({ macAddress }) => !listed.some(({ mac }) => sameMac(macAddress, mac)),
  );
  // An agent that reports that all is well would have said what it could not remove.
  const stay = result?.outcome === 'ok' ? [] : unsaid;
  const stuck = listed.filter(isOpen).map((nic) => {
    const before = gone.find(({ macAddress }) => sameMac(macAddress, nic.mac));
    const word = { status: 'Failed', reason: nic.reason, message: nic.message } as const;
    return nicStatus(stuckNic(nic, before), word, { before, now, seenAt: endIn(situation) });
  });
  const isHeld = 'reason' in situation && holding.has(situation.reason);
  return [...stay.map((before) => (isHeld ? before : onItsWay(before, now))), ...stuck];
}

/** Reasons for which NICs that the spec no longer has stay on the node. */
const holding: ReadonlySet<Reason> = new Set(['RemovalHeld', 'RolloutWaiting', 'Paused']);

/** What an agent could not remove keeps its word; the rest is on its way. */
function onItsWay(before: InterfaceStatus, now: Date): InterfaceStatus {
  const { interfaceIndex, name, id, portId, macAddress, address, addresses, cidr, mtu } = before;
  if (before.status === 'Failed' && interfaceIndex === undefined) return before;
  const nic = defined({ name, id, portId, macAddress, address, addresses, cidr, mtu });
  return nicStatus(nic, leaves, { before, now });
}

const leaves: NicWord = {
  status: 'InProgress',
  reason: 'SpecChanged',
  message: 'is not in the spec any more and leaves the node',
};

function stuckNic(nic: NicResult, before: InterfaceStatus | undefined): NicIdentity {
  const { address, addresses, cidr, mtu, portId = nic.portId } = before ?? {};
  const name = nic.name || before?.name;
  const at = { address, addresses, cidr, mtu };
  return defined({ name, id: nic.index, portId, macAddress: nic.mac, ...at });
}

/** What the status says of one NIC. */
interface NicWord {
  readonly status: 'Pending' | 'InProgress' | 'Configured' | 'Failed';
  readonly reason: Reason;
  readonly message: string;
}

/** Failures that certainly changed nothing on the node. */
const harmless: ReadonlySet<Reason> = new Set([
  'ImagePullFailed',
  'Unschedulable',
  'NotStarted',
  'WrongMachine',
  'AlreadyRunning',
  'StaleRequest',
  'UnknownState',
  'InvalidRequest',
  'RightMissing',
]);

/** The agent's own word. */
function agentWord({ state, reason, message }: NicResult): NicWord {
  const status = state === 'Configured' || state === 'Pending' ? state : 'Failed';
  return { status, reason, message };
}

/**
 * The word on a NIC that no agent has just spoken about: its last word, given as `earlier` when that was about the same
 * wish, holds until a run has ended that may have changed something.
 */
function wordWithout(situation: RunPhase, before: InterfaceStatus | undefined): NicWord {
  const earlier = earlierWord(before);
  if (situation.kind !== 'ended') return earlier ?? firstWord(situation);
  const { reason, message } = failureOf(situation.verdict);
  return (harmless.has(reason) ? earlier : undefined) ?? { status: 'Failed', reason, message };
}

function firstWord(situation: Exclude<RunPhase, { kind: 'ended' }>): NicWord {
  switch (situation.kind) {
    case 'refused':
    case 'waiting':
      return { status: 'Pending', reason: situation.reason, message: situation.message };
    case 'working':
    case 'recorded':
      return { status: 'InProgress', reason: 'SpecChanged', message: 'the agent is at work' };
    default:
      return situation satisfies never;
  }
}

/** What an agent said earlier, as far as the status still shows it. */
function earlierWord(before: InterfaceStatus | undefined): NicWord | undefined {
  const reason = nicReason.safeParse(before?.reason).data;
  const { status, message = '' } = before ?? {};
  if (!reason || reason === 'InvalidEntry') return undefined;
  if (status !== 'Configured' && status !== 'Pending' && status !== 'Failed') return undefined;
  return { status, reason, message };
}

/** Why the run that ended says nothing of a NIC. */
function failureOf(verdict: RunOutcome): Failure {
  if (verdict.kind === 'failure') return verdict;
  return { reason: 'JobFailed', message: 'the agent says nothing of this NIC' };
}

/** Which NIC a status is about, as it is wanted or was seen. */
type NicIdentity = Pick<
  InterfaceStatus,
  | 'name'
  | 'interfaceIndex'
  | 'id'
  | 'portId'
  | 'macAddress'
  | 'address'
  | 'addresses'
  | 'cidr'
  | 'mtu'
>;

interface Stamp {
  readonly before: InterfaceStatus | undefined;
  readonly now: Date;
  /** When the agent looked at this NIC, if it has just reported. */
  readonly seenAt?: Date | undefined;
}

/** One entry of `interfaceStatuses`; its times move only when there is something new. */
function nicStatus(nic: NicIdentity, word: NicWord, stamp: Stamp): InterfaceStatus {
  const { before, now, seenAt } = stamp;
  const said = defined({ ...nic, ...word, message: shortMessage(word.message) });
  const lastChecked = seenAt ? rfc3339(seenAt) : before?.lastChecked;
  const lastConfigured =
    word.status === 'Configured' && seenAt ? lastChecked : before?.lastConfigured;
  const lastUpdated = before && saysTheSame(before, said) ? before.lastUpdated : undefined;
  return {
    ...said,
    lastUpdated: lastUpdated ?? rfc3339(now),
    ...defined({ lastChecked, lastConfigured }),
  };
}

function saysTheSame(before: InterfaceStatus, said: InterfaceStatus): boolean {
  const { lastUpdated: _u, lastChecked: _c, lastConfigured: _f, ...rest } = before;
  return isSameJson(rest, said);
}

function endIn(situation: RunPhase): Date | undefined {
  return situation.kind === 'ended' ? situation.at : undefined;
}

/** Whether two MACs are one; undefined is none. */
function sameMac(a: string | undefined, b: string | undefined): boolean {
  return a !== undefined && a.toLowerCase() === b?.toLowerCase();
}

type Defined<T> = { [K in keyof T]?: Exclude<T[K], undefined> };

/** The fields that have a value. */
export function defined<T extends object>(fields: T): Defined<T> {
  const entries = Object.entries(fields).filter(([, value]) => value !== undefined);
  return Object.fromEntries(entries) as Defined<T>;
}
