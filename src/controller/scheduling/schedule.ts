import { hash } from 'node:crypto';
import type { JobAction } from '../../api/job.ts';
import { type Reason, reasons } from '../../api/reasons.ts';
import { type Applied, completionIn, completionOf, machineIn } from '../jobs/applied.ts';
import { isNews, otherFamilyIn } from '../jobs/family.ts';
import { type AllowedRemoval, isFor, isIfGone } from '../jobs/run-basis.ts';
import type { Run, RunOutcome } from '../jobs/runner.ts';
import { isOtherBoot, isOtherMachine, isReplaced, type Machine } from '../objects/machine.ts';

/** Desired state for one object's agent. */
export interface Desired {
  readonly generation: number;
  readonly action: JobAction;
  readonly content: string;
  readonly machine: Machine;
  /** Removals that the run may make. */
  readonly removals?: readonly AllowedRemoval[];
}

/** Outcome of the last run, if not in the status yet. */
export interface ObservedRun {
  readonly job: string;
  readonly verdict: RunOutcome;
}

export type Decision =
  /** Start this attempt. `generation`: the Job's generation, older than the object's if the content is unchanged. */
  | { readonly kind: 'start'; readonly attempt: number; readonly generation: number }
  /** Remove an obsolete run that has not started. */
  | { readonly kind: 'remove'; readonly run: Run }
  /** A run is under way; `current`: the run matches the desired state. */
  | { readonly kind: 'wait'; readonly run: Run; readonly current: boolean }
  /** The last attempt failed; the next attempt is due in `forMs`. */
  | { readonly kind: 'pause'; readonly forMs: number; readonly observed: ObservedRun | undefined }
  /** The desired state is applied. */
  | { readonly kind: 'done'; readonly observed: ObservedRun | undefined };

/**
 * Decides an object's next step from its record, the record's age and its open runs only. Completed work counts if
 * content and machine match; equal generation numbers prove nothing.
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
  // A check yields to an apply or clean-up that is ready to start, never vice versa.
  return isCheck(other)
    ? waitOrRemove(other, desired)
    : { kind: 'wait', run: other, current: false };
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
  const observed = applied.done === undefined ? endOf(applied, runs) : undefined;
  if (observed) return afterOutcome(applied, observed, runs);
  const again = { ...start, attempt: Math.max(attempt, applied.attempt + 1) };
  if (mayRemoveMore(desired, applied, recordAgeMs)) return again;
  const { done, reasons: left } = completionIn(applied);
  if (done) return { kind: 'done', observed };
  const forMs = pauseAfter(applied, undefined, runs, left) - recordAgeMs;
  return forMs > 0 ? { kind: 'pause', forMs, observed } : again;
}

/** Writes the outcome to the status before acting on it. */
function afterOutcome(applied: Applied, observed: ObservedRun, runs: readonly Run[]): Decision {
  const { done, reasons: left } = completionOf(observed.verdict);
  if (done) return { kind: 'done', observed };
  return { kind: 'pause', forMs: pauseAfter(applied, observed, runs, left), observed };
}

function pauseAfter(
  applied: Applied,
  observed: ObservedRun | undefined,
  runs: readonly Run[],
  left: readonly Reason[],
): number {
  if (isOfOtherFamily(applied, observed)) return 0;
  return pauseMs(left, failuresInARow(applied, runs), applied.job);
}

/**
 * True if the run may remove a NIC that the last run with this content was not allowed to remove. A NIC that was removed
 * and is back is removed again after a pause.
 */
function mayRemoveMore(
  { removals = [], ...desired }: Desired,
  { basis, done = false }: Applied,
  recordAgeMs: number,
): boolean {
  if (removals.length === 0) return false;
  const before = basis && isFor(basis, desired) ? basis.removals : [];
  const isNew = (removal: AllowedRemoval) =>
    !before.some((one) => one.mac === removal.mac && isIfGone(one) === isIfGone(removal));
  if (removals.some(isNew)) return true;
  // Queued after the last run, and no run has started since: a slot was busy, or the controller was killed.
  if (basis?.used !== true) return done;
  return !removals.every(isIfGone) && recordAgeMs > untilChanged.firstMs;
}

/** True if the only obstacle is a network manager mismatch in the last run. */
function isOfOtherFamily(applied: Applied, observed: ObservedRun | undefined): boolean {
  const found = observed ? otherFamilyIn(observed.verdict, applied.family) : applied.foundFamily;
  return isNews(found, applied);
}

/** Returns undefined if no run is under way. */
function untilEnded(runs: readonly Run[], desired: Desired): Decision | undefined {
  const open = runs.filter(({ phase }) => phase !== 'ended');
  const current = open.find((run) => serves(run, desired));
  const obsolete = open.find((run) => run !== current);
  if (obsolete) return waitOrRemove(obsolete, desired);
  return current && follow(current);
}

function serves({ action, content, machine }: Run, desired: Desired): boolean {
  return (
    action === desired.action &&
    content === desired.content &&
    !isOtherMachine(machine, desired.machine)
  );
}

/** True if the record has this content, action and machine, without a reboot since. */
export function isAbout(
  applied: Applied,
  { action, content, machine }: Pick<Desired, 'action' | 'content' | 'machine'>,
): boolean {
  return (
    !applied.undone &&
    applied.action === action &&
    applied.content === content &&
    !isOtherMachine(machineIn(applied), machine) &&
    // A boot may have fixed a failed apply. Completed work is compared with the node after a boot (drift.ts).
    (action === 'cleanup' || applied.done === true || !isOtherBoot(machineIn(applied), machine))
  );
}

/**
 * Waits for a started run, removes a run not yet started: two agents never run on one node. Also removes a dead
 * machine's run if another machine took its Node name: the Pod would end only at the Job deadline.
 */
function waitOrRemove(run: Run, { machine }: Desired): Decision {
  const works = run.phase === 'running' && !isReplaced(run.machine, machine);
  const waits = works || run.phase === 'ending';
  return waits ? { kind: 'wait', run, current: false } : { kind: 'remove', run };
}

function follow(run: Run): Decision {
  const { attempt, generation } = run;
  if (run.phase === 'prepared') return { kind: 'start', attempt, generation };
  return { kind: 'wait', run, current: true };
}

/**
 * Returns the highest attempt among existing runs with this content, including runs before other content: their names
 * are taken.
 */
function lastAttempt({ action, content }: Desired, runs: readonly Run[]): number {
  const same = runs.filter((run) => run.action === action && run.content === content);
  return Math.max(0, ...same.map(({ attempt }) => attempt));
}

/**
 * Returns the number of consecutive failures, including the last run. Recurring content continues its attempt numbers,
 * because ports come and go. A run no longer visible counts as failed, unless `worked` in the record covers its
 * attempt.
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

/** Returns the outcome of a started run that is no longer under way. */
function endOf({ job }: Applied, runs: readonly Run[]): ObservedRun {
  const run = runs.find(({ name }) => name === job);
  const message = `Job ${job} no longer exists, and its outcome is unknown`;
  const lost: RunOutcome = { kind: 'failure', reason: 'ResultLost', message };
  return { job, verdict: run?.ended?.verdict ?? lost };
}

/** Retry delays after the n-th consecutive failure: first delay, growth factor, maximum. */
interface Schedule {
  readonly firstMs: number;
  readonly factor: number;
  readonly longestMs: number;
}

/** A port is plugged within seconds after its attachment, or never. */
const untilPlugged: Schedule = { firstMs: 5_000, factor: 1.5, longestMs: 120_000 };
const untilBetter: Schedule = { firstMs: 1_000, factor: 2, longestMs: 300_000 };
/** A user must change something first, possibly without a watch event: retry rarely. */
const untilChanged: Schedule = { firstMs: 300_000, factor: 1, longestMs: 300_000 };

/**
 * Returns milliseconds from the n-th consecutive failure to the next attempt: the shortest delay among the reasons. The
 * ±20 % jitter derives from the run's name: a restarted controller computes the same time.
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

/** Returns a deterministic number in [0, 1) for the text. */
export function fractionOf(text: string): number {
  return hash('sha256', text, 'buffer').readUInt32BE(0) / 2 ** 32;
}
