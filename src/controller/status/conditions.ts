import {
  type Condition,
  type ConditionUpdate,
  findCondition,
  setCondition,
  shortMessage,
} from '../../api/condition.ts';
import type { NicResult } from '../../api/job.ts';
import { interfaceName } from '../../api/names.ts';
import { type Reason, reasons } from '../../api/reasons.ts';
import { completionOf } from '../jobs/applied.ts';
import { isOpen } from '../jobs/evidence.ts';
import type { AcceptedSpec, Entry } from '../jobs/request.ts';
import type { Failure, Run, RunOutcome } from '../jobs/runner.ts';
import type { NameMatch } from '../target.ts';

/** Phase of one object, from which its status is derived. */
export type RunPhase =
  /** No agent may start; NICs stay unchanged. */
  | ({ readonly kind: 'refused' } & Failure)
  /** An agent must wait to start; `repeat` as in `working`. */
  | ({
      readonly kind: 'waiting';
      readonly repeat: boolean;
      /** True if the object waits for a stopped rollout. */
      readonly isStopped?: boolean;
    } & Failure)
  /** `repeat`: the status from an earlier attempt stays valid. */
  | { readonly kind: 'working'; readonly run: Run; readonly repeat: boolean }
  /** `at`: time the end was observed; `again`: the outcome was already reported and another phase overwrote it. */
  | {
      readonly kind: 'ended';
      readonly job: string;
      readonly at: Date;
      readonly verdict: RunOutcome;
      readonly again?: true;
    }
  /** The status has the outcome, and no run is left. `check`: findings of a drift check. */
  | { readonly kind: 'recorded'; readonly check?: CheckFindings };

export interface CheckFindings {
  readonly nics: readonly NicResult[];
  readonly at: Date;
}

/** True if the status shows an earlier attempt's result for this machine, kept until the next result. */
export function isRepeat(situation: RunPhase): boolean {
  if (situation.kind === 'working' || situation.kind === 'waiting') return situation.repeat;
  return situation.kind === 'recorded';
}

interface ConditionsInput {
  readonly situation: RunPhase;
  readonly spec: Pick<AcceptedSpec, 'entries' | 'blocked'>;
  /** Undefined: the node is unknown. */
  readonly name: NameMatch | undefined;
  /** Drift found by a check; undefined: no check has finished. */
  readonly drift: ConditionUpdate | undefined;
  /** Condition Paused, if the object is paused. */
  readonly paused?: readonly ConditionUpdate[];
  readonly previous: readonly Condition[];
  readonly generation: number;
  readonly now: Date;
}

/** Returns all our conditions of one object, in reading order. */
export function conditionsOf(input: ConditionsInput): Condition[] {
  const { previous, generation, now } = input;
  const retained = retainedProgress(input);
  const updates = [
    ...(retained.length > 0 ? retained : progressIn(input)),
    accepted(input.spec),
    ...drifted(input),
    ...nameDiffers(input.name),
    ...(input.paused ?? []),
    ...rolloutStopped(input.situation),
  ];
  const before = previous.filter(({ type }) => updates.some((update) => update.type === type));
  const at = { now, generation };
  const set = updates.reduce<Condition[]>(
    (list, update) => setCondition(list, cut(update), at),
    before,
  );
  return order.flatMap((type) => set.find((condition) => condition.type === type) ?? []);
}

const progressTypes = ['Ready', 'Applied', 'Verified', 'Persistent', 'Reconciling', 'Stalled'];
const order = [
  'Ready',
  'Accepted',
  ...progressTypes.slice(1),
  'Drifted',
  'NameDiffers',
  'Paused',
  'RolloutStopped',
];

/** Returns the conditions kept from the last attempt. A retry adds nothing new until its run ends or fails to start. */
function retainedProgress({ situation, previous, generation }: ConditionsInput): ConditionUpdate[] {
  const inTrouble =
    (situation.kind === 'working' && situation.run.trouble !== undefined) ||
    (situation.kind === 'waiting' && situation.reason !== 'WaitingForTurn');
  if (!isRepeat(situation) || inTrouble) return [];
  // A recorded outcome is about the current content, even under an older generation number.
  const isCurrent = ({ observedGeneration }: Condition): boolean =>
    situation.kind === 'recorded' || observedGeneration === generation;
  return previous
    .filter((condition) => progressTypes.includes(condition.type) && isCurrent(condition))
    .map(({ type, status, reason = '', message = '' }) => ({ type, status, reason, message }));
}

function progressIn({ situation, spec }: ConditionsInput): ConditionUpdate[] {
  const ready = readyIn(situation, spec.entries ?? []);
  return [
    { type: 'Ready', ...ready },
    ...stagesIn(situation, ready),
    ...activity(situation, ready),
  ];
}

/** Returns Reconciling while the controller continues alone, Stalled when a user must act, and neither when done. */
function activity(situation: RunPhase, ready: Judgement): ConditionUpdate[] {
  if (ready.status === 'True') return [];
  const { reason, message } = ready;
  const type = goesOn(situation, ready) ? 'Reconciling' : 'Stalled';
  return [{ type, status: 'True', reason, message }];
}

function goesOn(situation: RunPhase, ready: Judgement): boolean {
  if (situation.kind === 'waiting' && situation.isStopped) return false;
  const verdict = situation.kind === 'ended' ? situation.verdict : undefined;
  const list = verdict ? completionOf(verdict).reasons : [ready.reason];
  return list.some((reason) => reasons[reason].retryable);
}

function accepted({ entries = [], blocked }: ConditionsInput['spec']): ConditionUpdate {
  const message = rejectionsOf(entries).join('; ') || blocked;
  return message === undefined
    ? { type: 'Accepted', status: 'True', reason: 'Accepted', message: usable(entries.length) }
    : { type: 'Accepted', status: 'False', reason: 'InvalidEntries', message };
}

function usable(count: number): string {
  if (count === 0) return 'the spec has no entries';
  return count === 1 ? '1 entry can be used' : `all ${count} entries can be used`;
}

/** Keeps the last check's finding until the next check, or until everything was applied again. */
function drifted({ situation, drift, previous }: ConditionsInput): ConditionUpdate[] {
  if (drift) return [drift];
  const before = findCondition(previous, 'Drifted');
  if (!before) return [];
  const isNew = situation.kind === 'ended' && !situation.again;
  const isHealed = isNew && completionOf(situation.verdict).done;
  if (isHealed) return [asApplied];
  const { type, status, reason = '', message = '' } = before;
  return [{ type, status, reason, message }];
}

export const asApplied: ConditionUpdate = {
  type: 'Drifted',
  status: 'False',
  reason: 'AsApplied',
  message: 'the node matches what was applied',
};

function nameDiffers(name: NameMatch | undefined): ConditionUpdate[] {
  if (!name || name.kind === 'same') return [];
  const status = name.kind === 'differs' ? 'True' : 'Unknown';
  return [{ type: 'NameDiffers', status, reason: 'NameDiffers', message: name.message }];
}

function rolloutStopped(situation: RunPhase): ConditionUpdate[] {
  if (situation.kind !== 'waiting' || !situation.isStopped) return [];
  const { message } = situation;
  return [{ type: 'RolloutStopped', status: 'True', reason: 'RolloutStopped', message }];
}

function cut(update: ConditionUpdate): ConditionUpdate {
  return { ...update, message: shortMessage(update.message) };
}

/** Reasons for waiting without a failure: NICs keep their configuration. */
const undecided: ReadonlySet<Reason> = new Set(['WaitingForTurn', 'RolloutWaiting', 'Paused']);

/** Status, reason and message of a condition; the reason is in the reasons table. */
type Judgement = Omit<ConditionUpdate, 'type' | 'reason'> & { readonly reason: Reason };

/**
 * Returns condition Ready: True if everything requested is applied and verified. Of several reasons the first in
 * processing order counts. Refused entries come last, because they delay nothing else.
 */
export function readyIn(situation: RunPhase, entries: readonly Entry[]): Judgement {
  switch (situation.kind) {
    case 'refused':
      return no(situation.reason, situation.message);
    case 'waiting':
      return undecided.has(situation.reason)
        ? { status: 'Unknown', reason: situation.reason, message: situation.message }
        : no(situation.reason, situation.message);
    case 'working':
      return working(situation.run);
    case 'ended':
      return judged(situation.verdict, entries);
    case 'recorded':
      // Normally the status keeps its Ready condition; reached only if a user removed the condition.
      return { status: 'Unknown', reason: 'SpecChanged', message: 'the status was incomplete' };
    default:
      return situation satisfies never;
  }
}

function working({ trouble, node }: Run): Judgement {
  if (trouble) return no(trouble.reason, trouble.message);
  return {
    status: 'Unknown',
    reason: 'SpecChanged',
    message: `an agent is running on node ${node}`,
  };
}

function judged(verdict: RunOutcome, entries: readonly Entry[]): Judgement {
  if (verdict.kind === 'failure') return no(verdict.reason, verdict.message);
  const { nics, outcome, warnings } = verdict.result;
  const [first] = nics.filter(isOpen);
  if (first) return no(first.reason, describe(nics, entries));
  // A host-wide problem without a NIC is reported as a warning.
  if (outcome !== 'ok')
    return no('JobFailed', warnings.join('; ') || `the agent reported outcome "${outcome}"`);
  const [refused] = rejectionsOf(entries);
  if (refused !== undefined) return no('InvalidEntries', rejectionsOf(entries).join('; '));
  return { status: 'True', reason: 'AllInterfacesConfigured', message: success(entries, warnings) };
}

function no(reason: Reason, message: string): Judgement {
  return { status: 'False', reason, message };
}

function describe(nics: readonly NicResult[], entries: readonly Entry[]): string {
  const configured = nics.filter(({ state }) => state === 'Configured').length;
  const open = nics
    .filter(isOpen)
    .map(({ index, reason, message }) => `${interfaceName(index)} ${reason}: ${message}`);
  return `${configured} of ${interfaces(entries.length)} configured; ${open.join('; ')}`;
}

function success(entries: readonly Entry[], warnings: readonly string[]): string {
  const words =
    entries.length === 0
      ? 'No interfaces: MultiNIC manages nothing on the node'
      : `${entries.length === 1 ? '' : 'All '}${interfaces(entries.length)} configured successfully`;
  return warnings.length === 0 ? words : `${words}; warnings: ${warnings.join(', ')}`;
}

function interfaces(count: number): string {
  return `${count} interface${count === 1 ? '' : 's'}`;
}

/** Returns one text per unusable entry. */
function rejectionsOf(entries: readonly Entry[]): string[] {
  return entries.flatMap(({ rejection }) => rejection ?? []);
}

/** Stages of a NIC: applied to the kernel, read back, and written to boot files. */
const stages = ['Applied', 'Verified', 'Persistent'] as const;

/**
 * Returns conditions Applied, Verified and Persistent. The agent rolls back a NIC that fails at any stage, hence a
 * failed NIC has reached none; its reason names the failed stage.
 */
function stagesIn(situation: RunPhase, ready: Judgement) {
  const judgement = stageIn(situation, ready);
  return stages.map((type) => ({ type, ...judgement }));
}

function stageIn(situation: RunPhase, ready: Judgement): Judgement {
  const verdict = situation.kind === 'ended' ? situation.verdict : undefined;
  if (verdict?.kind !== 'result') return { ...ready, status: 'Unknown' };
  const { nics } = verdict.result;
  const there = nics.filter(({ state }) => state === 'Configured').length;
  const failed = nics.filter(isOpen);
  if (failed.length === 0) {
    return { status: 'True', reason: 'JobSucceeded', message: interfaces(there) };
  }
  const names = failed.map(({ index, reason }) => `${interfaceName(index)} ${reason}`);
  const message = `${there} of ${interfaces(there + failed.length)}; ${names.join(', ')}`;
  return { status: 'False', reason: there > 0 ? 'JobFailedPartial' : 'JobFailed', message };
}
