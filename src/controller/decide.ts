import type { JobAction } from '../api/job.ts';
import type { NodeConfigStatus } from '../api/multinicnodeconfig.ts';
import { type Outcome, outcomeOf, recordedOutcome } from './outcome.ts';
import { pauseMs } from './retry.ts';
import type { EndedRun, Run } from './runner.ts';

/** What the agent is to bring about for one object. */
export interface Wish {
  readonly generation: number;
  readonly action: JobAction;
  readonly content: string;
}

/** `witness` is the run that tells how things stand; without one, the status as it is written. */
export type Step =
  /** Start this attempt; `generation` is that of the Job, older than the object's when its content is the same. */
  | { readonly kind: 'start'; readonly attempt: number; readonly generation: number }
  /** Take away a run that is out of date and has not begun. */
  | { readonly kind: 'remove'; readonly run: Run }
  /** A run is on its way; `current` when it is the one that is wanted. */
  | { readonly kind: 'wait'; readonly run: Run; readonly current: boolean }
  /** The last attempt did not do it; the next one is due in `forMs`. */
  | { readonly kind: 'pause'; readonly forMs: number; readonly witness: EndedRun | undefined }
  /** What is wanted is in force. */
  | { readonly kind: 'done'; readonly witness: EndedRun | undefined };

/**
 * What to do next for one object, from what the world shows and nothing else. Runs are judged by content: a change that
 * asks the agent for nothing new needs no run, and the result of an older wish is never taken for the current one.
 */
export function decide(
  wish: Wish,
  runs: readonly Run[],
  status: NodeConfigStatus | undefined,
  now: Date,
): Step {
  const ordered = runs.toSorted(byAge);
  const last = ordered.at(-1);
  const current = last && fulfils(last, wish) ? last : undefined;
  const older = ordered.find((run) => run !== current && run.phase !== 'ended');
  if (older) return makeWay(older);
  if (current) return follow(current, wish, status, now);
  const recorded = status && isAbout(status, wish) ? recordedOutcome(status) : undefined;
  if (recorded?.done && wish.action === 'apply') return { kind: 'done', witness: undefined };
  return { kind: 'start', attempt: 1, generation: wish.generation };
}

function fulfils(run: Run, { action, content, generation }: Wish): boolean {
  return run.action === action && run.content === content && run.generation <= generation;
}

function byAge(a: Run, b: Run): number {
  return a.generation - b.generation || a.attempt - b.attempt;
}

/** Two agents never work on one node: what has begun is waited for, what has not is taken away. */
function makeWay(run: Run): Step {
  const begun = run.phase === 'running' || run.phase === 'ending';
  return begun ? { kind: 'wait', run, current: false } : { kind: 'remove', run };
}

function follow(run: Run, wish: Wish, status: NodeConfigStatus | undefined, now: Date): Step {
  const { attempt, generation, phase, ended } = run;
  if (phase === 'prepared') return { kind: 'start', attempt, generation };
  if (!ended) return { kind: 'wait', run, current: true };
  const recorded = remembered(run, status);
  const outcome = recorded ?? outcomeOf(ended.verdict);
  const witness = recorded ? undefined : { ...run, ended };
  if (outcome.done) return { kind: 'done', witness };
  const dueMs = ended.at.getTime() + pauseMs(outcome.reasons, attempt, run.name);
  const forMs = dueMs - now.getTime();
  if (forMs > 0) return { kind: 'pause', forMs, witness };
  return { kind: 'start', attempt: attempt + 1, generation: wish.generation };
}

/** What we wrote down about this very run before its Pod went. */
function remembered(run: Run, status: NodeConfigStatus | undefined): Outcome | undefined {
  const verdict = run.ended?.verdict;
  if (verdict?.kind !== 'failure' || verdict.reason !== 'ResultLost') return undefined;
  if (run.action !== 'apply' || status?.lastJobName !== run.name) return undefined;
  return recordedOutcome(status);
}

function isAbout(status: NodeConfigStatus, { generation }: Wish): boolean {
  return status.observedGeneration === generation;
}
