import {
  type Condition,
  type ConditionUpdate,
  findCondition,
  rfc3339,
} from '../../api/condition.ts';
import { isBeyondApply, type JobResult, type NicResult, nicReasonIn } from '../../api/job.ts';
import type {
  InterfaceStatus,
  KnownInterface,
  NodeConfigStatus,
} from '../../api/multinicnodeconfig.ts';
import { type Applied, deliveredMacs, lastRecordOf, recordOf } from '../jobs/applied.ts';
import { isObserved } from '../jobs/permission.ts';
import type { AcceptedSpec, Entry } from '../jobs/request.ts';
import { isIfGone } from '../jobs/run-basis.ts';
import type { RunOutcome } from '../jobs/runner.ts';
import { type NodeConfig, ownSpecHash } from '../objects/stores.ts';
import { showsUnready } from '../objects/unready-nodes.ts';
import { holdOf } from '../removals/bases.ts';
import { holdByAgent } from '../removals/hold-status.ts';
import type { NameMatch } from '../target.ts';
import { conditionsOf } from './conditions.ts';
import { interfaceStatuses } from './interface-statuses.ts';
import { defined, hasVerdict, isConfigured } from './nic-status.ts';
import { observationOf } from './observed.ts';
import { observedStatuses } from './observed-nics.ts';
import { pausedCondition } from './paused.ts';
import { blockedReady, type Judgement, readyIn } from './ready.ts';
import { type Hold, isRepeat, type RolloutHold, type RunPhase } from './run-phase.ts';
import { summaryOf } from './summary.ts';

export interface StatusInput {
  readonly config: NodeConfig;
  readonly spec: Pick<AcceptedSpec, 'entries' | 'blocked'>;
  readonly name: NameMatch | undefined;
  readonly situation: RunPhase;
  /** New record, if any. */
  readonly applied?: Applied | undefined;
  /** New condition Drifted, if a check has finished. */
  readonly drift?: ConditionUpdate | undefined;
  /** Undefined: the gate was not asked. */
  readonly hold?: Hold | undefined;
  /** Why the state of the node's NICs is unknown. */
  readonly unready?: string | undefined;
  /** NICs left unchanged during a rollout. */
  readonly heldNics?: RolloutHold | undefined;
  /** Value of `rollout-continue` handled now. */
  readonly continued?: NodeConfigStatus['rolloutContinued'];
  readonly now: Date;
}

/** Returns an object's whole status, from the current phase and the previous status. */
export function statusOf(input: StatusInput): NodeConfigStatus {
  const { config, spec, name, drift, heldNics, now } = input;
  const situation = situationIn(input);
  const hold = holdAfter(input);
  const previous: NodeConfigStatus = config.status ?? {};
  const { generation = 0 } = config.metadata;
  const { conditions: before = [] } = previous;
  const heldRemovals = hold ? hold.status : previous.heldRemovals;
  const statuses = statusesOf(input, situation, heldRemovals);
  const conditions = conditionsOf({
    spec,
    situation: showsReady(config.status, situation, spec, hold) ? input.situation : situation,
    previous: before,
    name,
    drift,
    hold,
    unready: input.unready,
    heldNics,
    appliedReady: appliedReadyIn(input),
    observation: isOnlyObserved(input) ? observationOf(config, statuses) : undefined,
    paused: pausedCondition(config),
    generation,
    now,
  });
  const ready = findCondition(conditions, 'Ready');
  return {
    state: isOnlyObserved(input) ? 'Observed' : stateOf(situation, ready, statuses),
    summary: summaryOf(statuses),
    observedGeneration: generation,
    conditions,
    interfaceStatuses: statuses,
    ...defined({
      observedSpecHash: hashOf(config),
      ...lastRun(situation, previous, input.applied),
      applied: input.applied ?? recordIn(config, situation),
      heldRemovals,
      rolloutContinued: input.continued ?? previous.rolloutContinued,
    }),
  };
}

/** True in mode Observe. An unusable node or spec is a problem in both modes. */
function isOnlyObserved({ config, situation }: StatusInput): boolean {
  return situation.kind !== 'refused' && isObserved(config);
}

function statusesOf(
  input: StatusInput,
  situation: RunPhase,
  heldRemovals: NodeConfigStatus['heldRemovals'],
): InterfaceStatus[] {
  const { config, spec, heldNics, now } = input;
  const { interfaceStatuses: previous = [] } = config.status ?? {};
  const { entries } = spec;
  // With an unreadable spec the removed NICs are unknown.
  if (!entries) return previous;
  const nics = { entries, situation, previous, now };
  if (isOnlyObserved(input)) {
    return observedStatuses({ ...nics, managed: new Set(deliveredMacs(config)) });
  }
  return interfaceStatuses({ ...nics, held: heldMacs(heldRemovals), heldNics });
}

/** Returns the gate's hold, otherwise the hold by an agent that found more NICs than were known. */
function holdAfter(input: StatusInput): Hold | undefined {
  const { config, spec, situation, hold, now } = input;
  // No NIC leaves now. A hold lasts until consent or an undo, also after mode Observe.
  if (isOnlyObserved(input)) return { message: undefined, status: config.status?.heldRemovals };
  if (hold?.message !== undefined) return hold;
  return holdByAgent(config, outcomeIn(situation), spec, now) ?? hold ?? earlierHold(config);
}

/** Returns the hold in the status: a check finds the object as recorded, and asks no gate. */
function earlierHold(config: NodeConfig): Hold | undefined {
  const ready = findCondition(config.status?.conditions, 'Ready');
  const status = holdOf(config);
  return status && ready?.reason === 'RemovalHeld'
    ? { message: ready.message ?? '', status }
    : undefined;
}

function heldMacs(held: NodeConfigStatus['heldRemovals']): ReadonlySet<string> {
  return new Set(held?.macs ?? []);
}

/**
 * Returns the record, with the node's MACs if an earlier version stored MACs only in `interfaceStatuses`: these show
 * the requested NICs while a change waits.
 */
function recordIn(config: NodeConfig, { kind }: RunPhase): Applied | undefined {
  const record = lastRecordOf(config);
  const macs = kind === 'waiting' && !record?.macs ? deliveredMacs(config) : [];
  return record && macs.length > 0 ? { ...record, macs: [...macs] } : record;
}

/** Returns the recorded outcome as a phase, if the status no longer shows it. */
function situationIn(input: StatusInput): RunPhase {
  const { situation, config, applied, spec, hold } = input;
  if (situation.kind !== 'recorded' || isOnlyObserved(input)) return situation;
  const record = applied ?? recordOf(config);
  const end = recordedOutcome(config.status, record, spec, hold);
  return end ? withVerdicts(end, situation.check?.nics ?? []) : situation;
}

/** Returns the recorded outcome with a check's failures beyond an apply, or their end, such as after a boot. */
function withVerdicts(end: RunPhase, checked: readonly NicResult[]): RunPhase {
  const judged = checked.filter((nic) => isBeyondApply(nic) || nic.state === 'Configured');
  const byMac = new Map(judged.map((nic) => [nic.mac.toLowerCase(), nic]));
  if (end.kind !== 'ended' || end.verdict.kind !== 'result') return end;
  const { result } = end.verdict;
  const nics = result.nics.map((nic) => byMac.get(nic.mac.toLowerCase()) ?? nic);
  return { ...end, verdict: { kind: 'result', result: { ...result, nics } } };
}

/** Returns Ready by the record, for an object whose Ready showed only that the node was not ready. */
function appliedReadyIn({ config, applied, spec }: StatusInput): Judgement | undefined {
  if (!showsUnready(config.status)) return undefined;
  const end = recordedEnd(config.status, applied ?? recordOf(config), spec);
  return end && readyIn(end, spec.entries ?? []);
}

function lastRun(situation: RunPhase, previous: NodeConfigStatus, applied: Applied | undefined) {
  return {
    lastProcessed: endOf(situation) ?? previous.lastProcessed,
    lastJobName: jobOf(situation) ?? previous.lastJobName,
    knownInterfaces: knownTo(situation) ?? knownWithout(previous, situation, applied),
  };
}

/** Returns the hash from the spec, otherwise our own. */
function hashOf(config: NodeConfig): string | undefined {
  return config.spec?.specHash || ownSpecHash(config);
}

/** Returns the summary state for users; programs read conditions. */
function stateOf(
  situation: RunPhase,
  ready: Condition | undefined,
  nics: readonly InterfaceStatus[],
): NonNullable<NodeConfigStatus['state']> {
  if (ready?.status === 'True') return 'Configured';
  if (ready?.status !== 'False') return situation.kind === 'working' ? 'InProgress' : 'Pending';
  return isPending(situation, ready, nics) ? 'Pending' : 'Failed';
}

/** True if nothing failed but a node is missing, or NICs are not plugged yet. */
function isPending(
  situation: RunPhase,
  { reason }: Condition,
  nics: readonly InterfaceStatus[],
): boolean {
  if (situation.kind === 'refused') return situation.reason === 'NodeNotFound';
  // During a retry Ready still shows the last attempt's outcome.
  const isOfAgent =
    situation.kind === 'ended'
      ? situation.verdict.kind === 'result'
      : isRepeat(situation) && nicReasonIn(reason) !== undefined;
  return isOfAgent && nics.every(({ status }) => status !== 'Failed');
}

function endOf(situation: RunPhase): string | undefined {
  return situation.kind === 'ended' ? rfc3339(situation.at) : undefined;
}

/** Returns NICs in the host's state file, if an agent has just reported on the record's machine. */
function knownTo(situation: RunPhase): KnownInterface[] | undefined {
  if (situation.kind === 'recorded' && situation.check?.isOfRecord === false) return undefined;
  return listedIn(situation)?.map(({ index, mac, portId }) => ({
    id: index,
    macAddress: mac,
    ...(portId === undefined ? {} : { portId }),
  }));
}

/** A run that succeeded without listing the host's NICs has removed those that it had to remove. */
function knownWithout(
  { knownInterfaces }: NodeConfigStatus,
  situation: RunPhase,
  applied: Applied | undefined,
): KnownInterface[] | undefined {
  if (!outcomeIn(situation) || !applied?.basis?.used) return knownInterfaces;
  const removals = applied.basis.removals.filter((removal) => !isIfGone(removal));
  const removed = new Set(removals.map(({ mac }) => mac));
  return knownInterfaces?.filter(({ macAddress }) => !removed.has(macAddress.toLowerCase()));
}

function listedIn(situation: RunPhase): JobResult['known'] {
  if (situation.kind === 'recorded') return situation.check?.known;
  const outcome = outcomeIn(situation);
  return outcome?.kind === 'result' ? outcome.result.known : undefined;
}

function outcomeIn(situation: RunPhase): RunOutcome | undefined {
  if (situation.kind === 'ended') return situation.verdict;
  return situation.kind === 'waiting' ? situation.outcome : undefined;
}

/** Returns the Job shown in the status; a retry's Job is shown after its end. */
function jobOf(situation: RunPhase): string | undefined {
  if (situation.kind === 'ended') return situation.job;
  return situation.kind === 'working' && !isRepeat(situation) ? situation.run.name : undefined;
}

/**
 * Returns the recorded outcome when the conditions show another phase since: a duplicate, a missing node, or unusable
 * entries. Undefined if the conditions already show the outcome, or if the record is incomplete.
 */
function recordedOutcome(
  status: NodeConfigStatus | undefined,
  applied: Applied | undefined,
  { entries = [] }: Pick<AcceptedSpec, 'entries'>,
  hold: Hold | undefined,
): RunPhase | undefined {
  const end = recordedEnd(status, applied, { entries });
  if (!end) return undefined;
  const nics = status?.interfaceStatuses ?? [];
  const usable = entries.filter(({ rejection }) => rejection === undefined);
  const isShown = usable.every(
    (entry) => isConfigured(entry, nics) || isHeld(entry, nics) || verdictOn(entry, nics),
  );
  return isShown && showsReady(status, end, { entries }, hold) ? undefined : end;
}

/** Returns the recorded outcome; undefined: the record is incomplete. */
function recordedEnd(
  status: NodeConfigStatus | undefined,
  applied: Applied | undefined,
  { entries = [] }: Pick<AcceptedSpec, 'entries'>,
): RunPhase | undefined {
  if (!applied?.done || applied.undone || applied.action !== 'apply') return undefined;
  const { job, at, attempt, protocol } = applied;
  const about = { protocol, attempt, uid: '', generation: 0, bootId: '' };
  const result: JobResult = {
    ...about,
    outcome: 'ok',
    nics: nicsOf(entries, status),
    warnings: [],
  };
  const verdict = { kind: 'result', result } as const;
  return { kind: 'ended', job, at: new Date(at), verdict, again: true };
}

/** A NIC that waits for the index, name or address of a held NIC is not configured, although the run is complete. */
function nicsOf(
  entries: readonly Entry[],
  status: NodeConfigStatus | undefined,
): JobResult['nics'] {
  const nics = status?.interfaceStatuses ?? [];
  return entries.flatMap((entry): JobResult['nics'] => {
    const { mac, index, rejection } = entry;
    if (mac === undefined || index === undefined || rejection !== undefined) return [];
    return [{ index, mac, name: '', ...stateIn(entry, nics) }];
  });
}

function stateIn(
  entry: Entry,
  nics: readonly InterfaceStatus[],
): Pick<NicResult, 'state' | 'reason' | 'message'> {
  const held = heldStatusOf(entry, nics);
  if (held) return { state: 'Held', reason: 'RemovalHeld', message: held.message ?? '' };
  return verdictOn(entry, nics) ?? { state: 'Configured', reason: 'Configured', message: '' };
}

/** Returns a failure beyond an apply, found by a check since the run. */
function verdictOn(
  { mac }: Entry,
  nics: readonly InterfaceStatus[],
): Pick<NicResult, 'state' | 'reason' | 'message'> | undefined {
  const found = nics.find((nic) => nic.macAddress?.toLowerCase() === mac && hasVerdict(nic));
  const reason = nicReasonIn(found?.reason);
  const state = found?.status === 'Pending' ? 'Pending' : 'Failed';
  return found && reason && { state, reason, message: found.message ?? '' };
}

function isHeld(entry: Entry, nics: readonly InterfaceStatus[]): boolean {
  return heldStatusOf(entry, nics) !== undefined;
}

function heldStatusOf({ mac }: Entry, nics: readonly InterfaceStatus[]) {
  return nics.find(
    ({ macAddress, status, reason }) =>
      macAddress?.toLowerCase() === mac && status === 'Pending' && reason === 'RemovalHeld',
  );
}

function readyWith(hold: Hold | undefined, ready: ReturnType<typeof readyIn>) {
  return hold?.message !== undefined && ready.status === 'True'
    ? blockedReady(hold.message)
    : ready;
}

/** True if Ready already matches; a stored success message may also contain warnings. */
function showsReady(
  status: NodeConfigStatus | undefined,
  end: RunPhase,
  { entries = [] }: Pick<AcceptedSpec, 'entries'>,
  hold: Hold | undefined,
): boolean {
  const shown = findCondition(status?.conditions, 'Ready');
  if (showsUnready(status)) return readyIn(end, entries).status === 'True';
  const ready = readyWith(hold, readyIn(end, entries));
  if (shown?.status !== ready.status || shown.reason !== ready.reason) return false;
  return ready.status === 'True' || ready.message.startsWith(shown.message ?? '');
}
