import { isBeyondApply, type JobResult, type NicResult, nicReasonIn } from '../../api/job.ts';
import { type InterfaceStatus, maxInterfaceStatuses } from '../../api/multinicnodeconfig.ts';
import type { Reason } from '../../api/reasons.ts';
import { isSameJson } from '../../api/same-json.ts';
import { isOpen } from '../jobs/evidence.ts';
import type { Entry } from '../jobs/request.ts';
import type { Failure, RunOutcome } from '../jobs/runner.ts';
import {
  checkedStatus,
  defined,
  findingOf,
  hasVerdict,
  identityOf,
  type NicIdentity,
  type NicState,
  nicStatus,
  previousOf,
  requestedFields,
  type Stamp,
  sameMac,
  unremovedNic,
} from './nic-status.ts';
import type { RolloutHold, RunPhase } from './run-phase.ts';

export interface Nics {
  readonly entries: readonly Entry[];
  readonly situation: RunPhase;
  readonly previous: readonly InterfaceStatus[];
  /** MACs of NICs whose removal waits for consent. */
  readonly held: ReadonlySet<string>;
  /** NICs left unchanged during a rollout. */
  readonly heldNics: RolloutHold | undefined;
  readonly now: Date;
}

/** Returns one status per spec entry, then statuses of NICs being removed. */
export function interfaceStatuses(nics: Nics): InterfaceStatus[] {
  const wanted = nics.entries.map((entry) => wantedNic(entry, nics));
  // NICs waiting longest for removal come last and are cut first: an oversized list would make the whole status
  // invalid.
  return [...wanted, ...leavingNics(nics)].slice(0, maxInterfaceStatuses);
}

/** Returns the agent's result, if a run has just ended. */
function reportIn(situation: RunPhase): JobResult | undefined {
  const verdict = situation.kind === 'ended' ? situation.verdict : undefined;
  return verdict?.kind === 'result' ? verdict.result : undefined;
}

function wantedNic(entry: Entry, nics: Nics): InterfaceStatus {
  const { situation, previous, now, heldNics } = nics;
  const before = previousOf(entry, previous);
  const unchanged = heldBack(entry, before, heldNics);
  if (unchanged) return unchanged;
  const reported = reportIn(situation)?.nics.find(
    ({ mac, state }) => sameMac(mac, entry.mac) && state !== 'Removed',
  );
  const identity = identityOf(entry, reported?.name || before?.name);
  if (entry.rejection !== undefined) {
    const state = { status: 'Failed', reason: 'InvalidEntry', message: entry.rejection } as const;
    return nicStatus(identity, state, { before, now });
  }
  if (reported)
    return nicStatus(identity, stateFromAgent(reported), {
      before,
      now,
      inspectedAt: endIn(situation),
    });
  return (
    checked(entry, identity, situation, { before, now }) ??
    withoutResult(identity, { before, situation, now })
  );
}

/** Returns the former status for a NIC left unchanged during a rollout. */
function heldBack(
  { mac = '', position }: Entry,
  before: InterfaceStatus | undefined,
  heldNics: RolloutHold | undefined,
): InterfaceStatus | undefined {
  if (before?.status !== 'Configured' || !heldNics?.kept.has(mac)) return undefined;
  return { ...before, interfaceIndex: position };
}

/**
 * Returns the status of a checked NIC: check time, and reason `Drifted` if the node differs. The NIC stays
 * `Configured`, as the drift policy decides on repair, unless the failure is beyond an apply.
 */
function checked(
  { mac }: Entry,
  nic: NicIdentity,
  situation: RunPhase,
  { before, now }: Pick<Stamp, 'before' | 'now'>,
): InterfaceStatus | undefined {
  const check = situation.kind === 'recorded' ? situation.check : undefined;
  const found = check?.nics.find((one) => sameMac(one.mac, mac) && one.state !== 'Removed');
  if (!check || !found) return undefined;
  if (before?.status !== 'Configured' && !(before && hasVerdict(before))) return undefined;
  const status = isBeyondApply(found) ? beyondApply(found) : 'Configured';
  return checkedStatus(nicStatus(nic, findingOf(found, status), { before, now }), found, check.at);
}

function beyondApply({ state }: NicResult): 'Pending' | 'Failed' {
  return state === 'Pending' ? 'Pending' : 'Failed';
}

/** Returns the status of a NIC without a new agent result. */
function withoutResult(
  nic: NicIdentity,
  { before, situation, now }: Pick<Nics, 'situation' | 'now'> & Pick<Stamp, 'before'>,
): InterfaceStatus {
  const unchangedRequest =
    before && isSameJson(requestedFields(before), requestedFields(nic)) ? before : undefined;
  if (unchangedRequest && situation.kind === 'recorded') {
    return { ...unchangedRequest, ...defined({ interfaceIndex: nic.interfaceIndex }) };
  }
  return nicStatus(nic, stateWithoutResult(situation, unchangedRequest), { before, now });
}

/**
 * Returns statuses of NICs no longer in the spec. A NIC stays listed, and its index stays taken, until the agent
 * reports it removed or unknown.
 */
function leavingNics({ entries, situation, previous, held, now }: Nics): InterfaceStatus[] {
  const result = reportIn(situation);
  const wanted = new Set(entries.flatMap(({ mac }) => mac ?? []));
  const gone = previous.filter(
    // An entry without a MAC, as an older CRD stores it, has no owner; keeping it would add another each time.
    ({ macAddress }) => macAddress !== undefined && !wanted.has(macAddress.toLowerCase()),
  );
  const listed = result?.nics.filter(({ mac }) => !wanted.has(mac.toLowerCase())) ?? [];
  const omitted = gone.filter(
    ({ macAddress }) => !listed.some(({ mac }) => sameMac(macAddress, mac)),
  );
  // An agent with outcome ok would have listed NICs it could not remove.
  const stay = result?.outcome === 'ok' ? [] : omitted;
  const unremoved = listed
    .filter((nic) => isOpen(nic) || nic.state === 'Held')
    .map((nic) => {
      const before = gone.find(({ macAddress }) => sameMac(macAddress, nic.mac));
      const status = nic.state === 'Held' ? 'Configured' : 'Failed';
      const inspectedAt = endIn(situation);
      const stamp = { before, now, inspectedAt };
      return nicStatus(unremovedNic(nic, before), findingOf(nic, status), stamp);
    });
  const isBlocked = 'reason' in situation && holding.has(situation.reason);
  const stays = ({ macAddress = '' }: InterfaceStatus) =>
    isBlocked || held.has(macAddress.toLowerCase());
  return [...stay.map((before) => (stays(before) ? before : inRemoval(before, now))), ...unremoved];
}

/** Reasons for which NICs no longer in the spec stay on the node. */
const holding: ReadonlySet<Reason> = new Set(['RemovalHeld', 'RolloutWaiting', 'Paused']);

/** Keeps an agent's removal failure; other NICs become InProgress. */
function inRemoval(before: InterfaceStatus, now: Date): InterfaceStatus {
  const { interfaceIndex, name, id, portId, macAddress, address, addresses, cidr, mtu } = before;
  if (before.status === 'Failed' && interfaceIndex === undefined) return before;
  const nic = defined({ name, id, portId, macAddress, address, addresses, cidr, mtu });
  return nicStatus(nic, leaves, { before, now });
}

const leaves: NicState = {
  status: 'InProgress',
  reason: 'SpecChanged',
  message: 'is no longer in the spec and is being removed from the node',
};

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

/** Converts an agent's NIC result. */
function stateFromAgent(nic: NicResult): NicState {
  const { state, carrier } = nic;
  // A requested NIC that waits for a held NIC is not configured.
  if (state === 'Held') return { ...findingOf(nic, 'Pending'), carrier };
  const status = state === 'Configured' || state === 'Pending' ? state : 'Failed';
  return { ...findingOf(nic, status), carrier };
}

/**
 * Returns the state of a NIC without a new agent result. The earlier result stays valid, if about the same request,
 * until a run ends that may have changed the NIC.
 */
function stateWithoutResult(situation: RunPhase, before: InterfaceStatus | undefined): NicState {
  const earlier = earlierState(before);
  if (situation.kind !== 'ended') return earlier ?? initialState(situation);
  const { reason, message } = failureOf(situation.verdict);
  return (harmless.has(reason) ? earlier : undefined) ?? { status: 'Failed', reason, message };
}

function initialState(situation: Exclude<RunPhase, { kind: 'ended' }>): NicState {
  switch (situation.kind) {
    case 'refused':
    case 'waiting':
      return { status: 'Pending', reason: situation.reason, message: situation.message };
    case 'working':
    case 'recorded':
      return { status: 'InProgress', reason: 'SpecChanged', message: 'the agent is running' };
    default:
      return situation satisfies never;
  }
}

/** Returns an earlier agent result still visible in the status. */
function earlierState(before: InterfaceStatus | undefined): NicState | undefined {
  const reason = nicReasonIn(before?.reason);
  const { status, message = '', code, args, found } = before ?? {};
  if (!reason || reason === 'InvalidEntry') return undefined;
  if (status !== 'Configured' && status !== 'Pending' && status !== 'Failed') return undefined;
  return { status, reason, message, code, args, found };
}

/** Returns why the finished run has no result for a NIC. */
function failureOf(verdict: RunOutcome): Failure {
  if (verdict.kind === 'failure') return verdict;
  return { reason: 'JobFailed', message: 'the agent reported no result for this NIC' };
}

function endIn(situation: RunPhase): Date | undefined {
  return situation.kind === 'ended' ? situation.at : undefined;
}
