import { createHash } from 'node:crypto';
import type { JobAction } from '../../api/job.ts';
import { type Reason, reasons } from '../../api/reasons.ts';
import { type Applied, completionIn, completionOf, machineIn } from '../jobs/applied.ts';
import { isNews, otherFamilyIn } from '../jobs/family.ts';
import type { Run, RunOutcome } from '../jobs/runner.ts';
import { isOtherBoot, isOtherMachine, isReplaced, type Machine } from '../objects/machine.ts';

/** What the agent is to bring about for one object. */
export interface Desired {
  readonly generation: number;
  readonly action: JobAction;
  readonly content: string;
  readonly machine: Machine;
}

/** The end of the last run, when the status does not tell of it yet. */
export interface ObservedRun {
  readonly job: string;
  readonly verdict: RunOutcome;
}

export type Decision =
  /** Start this attempt; `generation` is that of the Job, older than the object's when its content is the same. */
  | { readonly kind: 'start'; readonly attempt: number; readonly generation: number }
  /** Take away a run that is out of date and has not begun. */
  | { readonly kind: 'remove'; readonly run: Run }
  /** A run is on its way; `current` when it is the one that is wanted. */
  | { readonly kind: 'wait'; readonly run: Run; readonly current: boolean }
  /** The last attempt did not do it; the next one is due in `forMs`. */
  | { readonly kind: 'pause'; readonly forMs: number; readonly seen: ObservedRun | undefined }
  /** What is wanted is in force. */
  | { readonly kind: 'done'; readonly seen: ObservedRun | undefined };

/**
 * What to do next for one object, from its record, how long that has stood, what is on its way, and nothing else. What was done counts when it
 * was done for the same content on the same machine; whether a number is the same says nothing.
 */
export function decide(
  desired: Desired,
  runs: readonly Run[],
  applied: Applied | undefined,
  recordAgeMs: number,
): Decision {
  const alike = runs.filter((run) => isCheck(run) === isCheck(desired));
  const next = decideAmong(alike, desired, applied, recordAgeMs);
  const other = runs.find((run) => isCheck(run) !== isCheck(desired) && run.phase !== 'ended');
  if (!other || next.kind !== 'start') return next;
  // Who only looks makes way for an agent that is to start, and never the other way round.
  return isCheck(other) ? makeWay(other, desired) : { kind: 'wait', run: other, current: false };
}

function isCheck({ action }: Pick<Desired, 'action'>): boolean {
  return action === 'check';
}

function decideAmong(
  runs: readonly Run[],
  desired: Desired,
  applied: Applied | undefined,
  recordAgeMs: number,
): Decision {
  const onItsWay = untilEnded(runs, desired);
  if (onItsWay) return onItsWay;
  const attempt = 1 + lastAttempt(desired, runs);
  const start = { kind: 'start', attempt, generation: desired.generation } as const;
  if (!applied || !isAbout(applied, desired)) return start;
  const seen = applied.done === undefined ? endOf(applied, runs) : undefined;
  const { done, reasons: left } = seen ? completionOf(seen.verdict) : completionIn(applied);
  if (done) return { kind: 'done', seen };
  const pause = isOfOtherFamily(applied, seen)
    ? 0
    : pauseMs(left, failuresInARow(applied, runs), applied.job);
  // Its end is written down before anything follows from it.
  if (seen) return { kind: 'pause', forMs: pause, seen };
  if (pause > recordAgeMs) return { kind: 'pause', forMs: pause - recordAgeMs, seen };
  return { ...start, attempt: Math.max(attempt, applied.attempt + 1) };
}

/** Whether nothing is in the way but that the last agent was sent for another family. */
function isOfOtherFamily(applied: Applied, seen: ObservedRun | undefined): boolean {
  const found = seen ? otherFamilyIn(seen.verdict, applied.family) : applied.foundFamily;
  return isNews(found, applied);
}

/** Undefined while none is on its way. */
function untilEnded(runs: readonly Run[], desired: Desired): Decision | undefined {
  const open = runs.filter(({ phase }) => phase !== 'ended');
  const current = open.find((run) => serves(run, desired));
  const obsolete = open.find((run) => run !== current);
  if (obsolete) return makeWay(obsolete, desired);
  return current && follow(current);
}

function serves({ action, content, machine }: Run, desired: Desired): boolean {
  return (
    action === desired.action &&
    content === desired.content &&
    !isOtherMachine(machine, desired.machine)
  );
}

/** Whether what was done was done for this, on this machine since it was started. */
export function isAbout(
  applied: Applied,
  { action, content, machine }: Pick<Desired, 'action' | 'content' | 'machine'>,
): boolean {
  return (
    !applied.undone &&
    applied.action === action &&
    applied.content === content &&
    !isOtherMachine(machineIn(applied), machine) &&
    // What was to be repeated may be there after a boot; what was done is compared with the node then (drift.ts).
    (action === 'cleanup' || applied.done === true || !isOtherBoot(machineIn(applied), machine))
  );
}

/**
 * Two agents never work on one node: what has begun is waited for, what has not is taken away. So is a run of a machine that
 * died and whose Node's name another machine has: nothing ends its Pod before the deadline of its Job.
 */
function makeWay(run: Run, { machine }: Desired): Decision {
  const works = run.phase === 'running' && !isReplaced(run.machine, machine);
  const waits = works || run.phase === 'ending';
  return waits ? { kind: 'wait', run, current: false } : { kind: 'remove', run };
}

function follow(run: Run): Decision {
  const { attempt, generation } = run;
  if (run.phase === 'prepared') return { kind: 'start', attempt, generation };
  return { kind: 'wait', run, current: true };
}

/** Runs of this content that are still there, also those of a time before other content: their names are taken. */
function lastAttempt({ action, content }: Desired, runs: readonly Run[]): number {
  const same = runs.filter((run) => run.action === action && run.content === content);
  return Math.max(0, ...same.map(({ attempt }) => attempt));
}

/**
 * How often in a row it was tried in vain, this one included. Content that was in force before comes back under higher
 * numbers, as ports come and go; a run that nobody sees any more counts as one in vain, but for what the record knows to
 * have worked.
 */
function failuresInARow(applied: Applied, runs: readonly Run[]): number {
  const { action, content, attempt, worked: known = 0 } = applied;
  const worked = runs.filter(
    (run) =>
      run.action === action &&
      run.content === content &&
      run.attempt < attempt &&
      run.ended !== undefined &&
      completionOf(run.ended.verdict).done,
  );
  return Math.max(1, attempt - Math.max(known, ...worked.map((run) => run.attempt)));
}

/** How a run ended that was begun and is not on its way any more. */
function endOf({ job }: Applied, runs: readonly Run[]): ObservedRun {
  const run = runs.find(({ name }) => name === job);
  const message = `${job} is gone, and nobody saw how it ended`;
  const lost: RunOutcome = { kind: 'failure', reason: 'ResultLost', message };
  return { job, verdict: run?.ended?.verdict ?? lost };
}

/** How soon the agent is sent again after the n-th failure in a row: first pause, growth, longest pause. */
interface Schedule {
  readonly firstMs: number;
  readonly factor: number;
  readonly longestMs: number;
}

/** A port is plugged seconds after it was attached, or never. */
const untilPlugged: Schedule = { firstMs: 5_000, factor: 1.5, longestMs: 120_000 };
const untilBetter: Schedule = { firstMs: 1_000, factor: 2, longestMs: 300_000 };
/** A person has to change something first, perhaps where nobody tells us; so it is looked at again, but rarely. */
const untilChanged: Schedule = { firstMs: 300_000, factor: 1, longestMs: 300_000 };

/**
 * Milliseconds from the n-th failure in a row to the next attempt: the shortest pause that one of the reasons asks for. The
 * jitter of ±20 % comes from the run's name, so that a restarted controller waits for the same moment.
 */
export function pauseMs(list: readonly Reason[], failures: number, runName: string): number {
  const pauses = list.map((reason) => {
    const { firstMs, factor, longestMs } = scheduleOf(reason);
    return Math.min(firstMs * factor ** Math.min(failures - 1, 40), longestMs);
  });
  const shortest = Math.min(untilChanged.longestMs, ...pauses);
  return Math.round(shortest * (0.8 + 0.4 * fractionOf(runName)));
}

function scheduleOf(reason: Reason): Schedule {
  if (reason === 'WaitingForNIC') return untilPlugged;
  return reasons[reason].retryable ? untilBetter : untilChanged;
}

/** A number in [0, 1) that belongs to the text. */
export function fractionOf(text: string): number {
  return createHash('sha256').update(text).digest().readUInt32BE(0) / 2 ** 32;
}
