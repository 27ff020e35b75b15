import type { JobAction } from '../api/job.ts';
import type { Reason } from '../api/reasons.ts';
import { type Applied, machineIn } from './applied.ts';
import { isOtherBoot, isOtherMachine, type Machine } from './machine.ts';
import { outcomeOf } from './results/outcome.ts';
import { pauseMs } from './retry.ts';
import type { Run, Verdict } from './runner.ts';

/** What the agent is to bring about for one object. */
export interface Desired {
  readonly generation: number;
  readonly action: JobAction;
  readonly content: string;
  readonly machine: Machine;
}

/** The end of the last run, when the status does not tell of it yet. */
export interface Seen {
  readonly job: string;
  readonly verdict: Verdict;
}

export type Decision =
  /** Start this attempt; `generation` is that of the Job, older than the object's when its content is the same. */
  | { readonly kind: 'start'; readonly attempt: number; readonly generation: number }
  /** Take away a run that is out of date and has not begun. */
  | { readonly kind: 'remove'; readonly run: Run }
  /** A run is on its way; `current` when it is the one that is wanted. */
  | { readonly kind: 'wait'; readonly run: Run; readonly current: boolean }
  /** The last attempt did not do it; the next one is due in `forMs`. */
  | { readonly kind: 'pause'; readonly forMs: number; readonly seen: Seen | undefined }
  /** What is wanted is in force. */
  | { readonly kind: 'done'; readonly seen: Seen | undefined };

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
  const open = runs.filter(({ phase }) => phase !== 'ended');
  const current = open.find((run) => serves(run, desired));
  const obsolete = open.find((run) => run !== current);
  if (obsolete) return makeWay(obsolete);
  if (current) return follow(current);
  const attempt = 1 + lastAttempt(desired, runs);
  const start = { kind: 'start', attempt, generation: desired.generation } as const;
  if (!applied || !isAbout(applied, desired)) return start;
  const seen = applied.done === undefined ? endOf(applied, runs) : undefined;
  const { done, reasons } = seen ? outcomeOf(seen.verdict) : recorded(applied);
  if (done) return { kind: 'done', seen };
  const forMs = pauseOf(applied, reasons) - (seen ? 0 : recordAgeMs);
  if (forMs > 0) return { kind: 'pause', forMs, seen };
  return { ...start, attempt: Math.max(attempt, applied.attempt + 1) };
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
    applied.action === action &&
    applied.content === content &&
    !isOtherMachine(machineIn(applied), machine) &&
    // What is clean stays clean; what runs may have come up differently.
    (action === 'cleanup' || !isOtherBoot(machineIn(applied), machine))
  );
}

/** Two agents never work on one node: what has begun is waited for, what has not is taken away. */
function makeWay(run: Run): Decision {
  const begun = run.phase === 'running' || run.phase === 'ending';
  return begun ? { kind: 'wait', run, current: false } : { kind: 'remove', run };
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

/** How a run ended that was begun and is not on its way any more. */
function endOf({ job }: Applied, runs: readonly Run[]): Seen {
  const run = runs.find(({ name }) => name === job);
  const message = `${job} is gone, and nobody saw how it ended`;
  const lost: Verdict = { kind: 'failure', reason: 'ResultLost', message };
  return { job, verdict: run?.ended?.verdict ?? lost };
}

function recorded({ done = false, reasons = [] }: Applied) {
  return { done, reasons };
}

function pauseOf({ attempt, job }: Applied, reasons: readonly Reason[]): number {
  return pauseMs(reasons, attempt, job);
}
