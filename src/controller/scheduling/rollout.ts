import { counted } from '../../api/counted.ts';
import { namedSome } from '../../api/named-some.ts';
import { canaryAndWave } from '../../api/rollout-steps.ts';
import type { Failure } from '../jobs/runner.ts';

/** Counts for one revision. */
export interface Tally {
  /** Number of objects that want the revision. */
  readonly total: number;
  /** Nodes with a run under way or about to start. */
  readonly running: readonly string[];
  /** Number of nodes completed successfully. */
  readonly done: number;
  readonly failures: readonly Failed[];
  /** Number of nodes failing again, which never stop a rollout. */
  readonly tolerated?: number;
}

/** A node whose run failed for a previously configured NIC. */
export interface Failed {
  readonly node: string;
  /** Milliseconds since 1970, by the clock of the controller that recorded the failure. */
  readonly at: number;
}

/** A handled value of the annotation `multinic.io/rollout-continue`; times as in `Failed`. */
export interface Continued {
  readonly value: string;
  /** Time at which the value was handled. */
  readonly at: number;
  /** Time of the latest failure at handling, if later than `at`. */
  readonly until?: number | undefined;
}

export type Step = 'canary' | 'wave' | 'rest' | 'stopped';

export interface Progress {
  readonly step: Step;
  /** Number of further nodes that may start now. */
  readonly room: number;
  /** Total number of nodes changed up to and including this step. */
  readonly size: number;
  /** Failed nodes, sorted by name. */
  readonly failed: readonly string[];
}

/** Reason why a change must wait. */
export interface Refusal extends Failure {
  readonly isStopped: boolean;
  /** When to ask again, in milliseconds; undefined: events wake the object. */
  readonly inMs?: number;
}

/** Failure share tolerated among finished nodes. */
const failureShare = 0.1;

/**
 * Returns how far a revision may go: one node, 10 % of the nodes, the rest. A step starts when all runs in earlier
 * steps have ended. The rollout stops if its first node failed, or if more than max(1, 10 %) of the finished nodes
 * failed.
 */
export function progressOf({ total, running, done, failures, tolerated = 0 }: Tally): Progress {
  const failed = namesOf(failures);
  const ended = done + failed.length + tolerated;
  if (hasTooManyFailures(done, failed.length))
    return { step: 'stopped', room: 0, size: ended, failed };
  const touched = ended + running.length;
  const upTo = (step: Step, size: number): Progress => {
    return { step, size, room: Math.max(0, size - touched), failed };
  };
  const wave = canaryAndWave(total);
  if (ended === 0) return upTo('canary', 1);
  if (ended < wave) return upTo('wave', wave);
  return { step: 'rest', size: total, room: Number.POSITIVE_INFINITY, failed };
}

function hasTooManyFailures(done: number, failed: number): boolean {
  if (failed > 0 && done === 0) return true;
  return failed > Math.max(1, failureShare * (done + failed));
}

/** Sorts by name, because retries change the times: the message stays stable while the set of nodes is stable. */
function namesOf(failures: readonly Failed[]): readonly string[] {
  return failures.map(({ node }) => node).toSorted();
}

/**
 * True if a user continued the rollout after the failure. Controller clocks differ: a value handled by a clock ahead of
 * `now` does not excuse a failure before `now`, which may have happened later.
 */
export function isExcused(at: number, list: readonly Continued[], now: number): boolean {
  return list.some(({ at: handled, until = handled }) => {
    if (handled <= now && at <= handled) return true;
    const latest = Math.max(handled, until);
    return at <= latest && (latest <= now || at > now);
  });
}

/** Returns the record for a value handled now; `failures`: failure times in the source. */
export function continuedNow(value: string, now: number, failures: readonly number[]): Continued {
  const latest = Math.max(now, ...failures);
  return { value, at: now, ...(latest > now ? { until: latest } : {}) };
}

/** Returns a single reason for several revisions: stopped rollouts come first, because a user must act. */
export function joinedRefusal(refusals: readonly Refusal[]): Refusal {
  const stopped = refusals.filter(({ isStopped }) => isStopped);
  const shown = stopped.length > 0 ? stopped : refusals;
  const message = [...new Set(shown.map((one) => one.message))].join('; ');
  const times = refusals.flatMap(({ inMs }) => inMs ?? []);
  const due = times.length > 0 ? { inMs: Math.min(...times) } : {};
  return { reason: 'RolloutWaiting', message, isStopped: stopped.length > 0, ...due };
}

/** Returns the beginning of a message. `name`: changed setting; undefined: source and image. */
function rolloutTo(total: number, name: string | undefined): string {
  return `rollout${name === undefined ? '' : ` of ${name}`} to ${counted(total, 'node')}`;
}

/** Returns why a node waits whose last run failed. */
export function lastMessage({ total }: Pick<Tally, 'total'>, name?: string): string {
  return `${rolloutTo(total, name)}: the last run on this node failed; nodes whose last run succeeded are changed first`;
}

const shownNames = 5;

/**
 * Returns why a node waits. The text stays the same within a step: a finished run must not cause a status write on
 * every waiting object.
 */
export function waitingMessage(
  { step, size, failed }: Progress,
  { total, running }: Tally,
  name?: string,
): string {
  const start = rolloutTo(total, name);
  if (step === 'canary') {
    const [first] = running;
    const canary = first === undefined ? 'one node' : `node ${first}`;
    return `${start}: ${canary} is changed first; the next step starts after its success`;
  }
  if (step !== 'stopped') {
    return `${start}: ${size} ${size === 1 ? 'is' : 'are'} changed first; the next step starts after their success`;
  }
  return `${start} is stopped: ${namedSome(failed, shownNames)} failed; correct the cause, or set the annotation multinic.io/rollout-continue to a new value on any object of the source`;
}
