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

/** How things stand with one object: what its status is about. */
export type RunPhase =
  /** No agent may be sent; the NICs stay as they are. */
  | ({ readonly kind: 'refused' } & Failure)
  /** An agent is to be sent and has to wait; `repeat` as below. */
  | ({
      readonly kind: 'waiting';
      readonly repeat: boolean;
      /** Whether it waits for a rollout that was stopped. */
      readonly isStopped?: boolean;
    } & Failure)
  /** `repeat`: what the status says of an earlier attempt still holds. */
  | { readonly kind: 'working'; readonly run: Run; readonly repeat: boolean }
  /** `at`: when its end was seen here; `again`: it was told before, and something else has been told since. */
  | {
      readonly kind: 'ended';
      readonly job: string;
      readonly at: Date;
      readonly verdict: RunOutcome;
      readonly again?: true;
    }
  /** The status says how it ended; nothing else does any more. `check`: what a check of the node has just found. */
  | { readonly kind: 'recorded'; readonly check?: CheckFindings };

export interface CheckFindings {
  readonly nics: readonly NicResult[];
  readonly at: Date;
}

/** Whether an earlier attempt has a result for the same machine, which stays in the status until the next one is in. */
export function isRepeat(situation: RunPhase): boolean {
  if (situation.kind === 'working' || situation.kind === 'waiting') return situation.repeat;
  return situation.kind === 'recorded';
}

interface ConditionsInput {
  readonly situation: RunPhase;
  readonly spec: Pick<AcceptedSpec, 'entries' | 'blocked'>;
  /** Undefined while no node is known. */
  readonly name: NameMatch | undefined;
  /** What a look has found; undefined when none has ended. */
  readonly drift: ConditionUpdate | undefined;
  /** The condition Paused, if the object is paused. */
  readonly paused?: readonly ConditionUpdate[];
  readonly previous: readonly Condition[];
  readonly generation: number;
  readonly now: Date;
}

/** All conditions of one object, ours and no others, in the order in which people read them. */
export function conditionsOf(input: ConditionsInput): Condition[] {
  const { previous, generation, now } = input;
  const kept = keptProgress(input);
  const updates = [
    ...(kept.length > 0 ? kept : progressIn(input)),
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

/**
 * What stays of the last attempt's conditions: an attempt that is repeated says nothing new until it has ended or does not
 * get to work.
 */
function keptProgress({ situation, previous, generation }: ConditionsInput): ConditionUpdate[] {
  const inTrouble =
    (situation.kind === 'working' && situation.run.trouble !== undefined) ||
    (situation.kind === 'waiting' && situation.reason !== 'WaitingForTurn');
  if (!isRepeat(situation) || inTrouble) return [];
  // A recorded ending is about the content of this generation, under whichever number it was seen.
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

/** Reconciling while we go on by ourselves, Stalled when somebody else has to do something; neither when all is done. */
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
  if (count === 0) return 'there are no entries';
  return count === 1 ? '1 entry can be used' : `all ${count} entries can be used`;
}

/** What the last look found stands until the next one, or until everything was applied again. */
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
  message: 'the node has what was applied',
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

/** Reasons to wait that are no failure: NICs keep what they have. */
const undecided: ReadonlySet<Reason> = new Set(['WaitingForTurn', 'RolloutWaiting', 'Paused']);

/** Status, reason and message of a condition; the reason is a word of the table. */
type Judgement = Omit<ConditionUpdate, 'type' | 'reason'> & { readonly reason: Reason };

/**
 * Whether everything that was asked for is in force and verified. Of several reasons the first one counts, in the order
 * of the work: the entries that a person can mend come last, because they keep nothing else waiting.
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
      // Kept as it is written; this is for a status that somebody took apart.
      return { status: 'Unknown', reason: 'SpecChanged', message: 'the status was incomplete' };
    default:
      return situation satisfies never;
  }
}

function working({ trouble, node }: Run): Judgement {
  if (trouble) return no(trouble.reason, trouble.message);
  return { status: 'Unknown', reason: 'SpecChanged', message: `an agent works on node ${node}` };
}

function judged(verdict: RunOutcome, entries: readonly Entry[]): Judgement {
  if (verdict.kind === 'failure') return no(verdict.reason, verdict.message);
  const { nics, outcome, warnings } = verdict.result;
  const [first] = nics.filter(isOpen);
  if (first) return no(first.reason, describe(nics, entries));
  // What is wrong with the whole host and no NIC in particular comes as a warning.
  if (outcome !== 'ok') return no('JobFailed', warnings.join('; ') || `the agent says ${outcome}`);
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
      ? 'No interfaces: nothing on the node is ours'
      : `${entries.length === 1 ? '' : 'All '}${interfaces(entries.length)} configured successfully`;
  return warnings.length === 0 ? words : `${words}; warnings: ${warnings.join(', ')}`;
}

function interfaces(count: number): string {
  return `${count} interface${count === 1 ? '' : 's'}`;
}

/** Why entries cannot be used, one text each. */
function rejectionsOf(entries: readonly Entry[]): string[] {
  return entries.flatMap(({ rejection }) => rejection ?? []);
}

/** How far a NIC has come: the kernel has it, it was read back, its files are there for the next boot. */
const stages = ['Applied', 'Verified', 'Persistent'] as const;

/**
 * Conditions Applied, Verified and Persistent. The agent undoes a NIC that fails at any stage, so such a one has come to
 * none; its reason names the stage that it failed at.
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
