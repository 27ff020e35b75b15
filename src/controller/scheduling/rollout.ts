/** What is known of one revision. */
export interface Tally {
  /** Objects that want the revision. */
  readonly total: number;
  /** Nodes with a run under way, or about to start. */
  readonly running: readonly string[];
  /** How many nodes have ended well. */
  readonly done: number;
  readonly failures: readonly Failed[];
}

/** A node whose run failed for a NIC that was configured before. */
export interface Failed {
  readonly node: string;
  /** Milliseconds since 1970, by the clock of the controller that recorded it. */
  readonly at: number;
}

/** A handled value of the annotation `multinic.io/rollout-continue`; times as in `Failed`. */
export interface Continued {
  readonly value: string;
  /** When it was handled. */
  readonly at: number;
  /** Time of the latest failure then, if it is later than `at`. */
  readonly until?: number | undefined;
}

export type Step = 'canary' | 'wave' | 'rest' | 'stopped';

export interface Progress {
  readonly step: Step;
  /** How many more nodes may start now. */
  readonly room: number;
  /** Nodes that the steps up to this one change in all. */
  readonly size: number;
  /** Nodes that failed, by name. */
  readonly failed: readonly string[];
}

/** Share of the nodes in the wave, and share of the ended nodes that may fail. */
const share = 0.1;

/**
 * Decides how far a revision may go: one node, 10 % of the nodes, the rest. A step starts when every run of the steps before has
 * ended. It is stopped while its first node has failed, or more than max(1, 10 %) of the ended nodes.
 */
export function progressOf({ total, running, done, failures }: Tally): Progress {
  const failed = namesOf(failures);
  const ended = done + failed.length;
  if (isStopped(done, failed.length)) return { step: 'stopped', room: 0, size: ended, failed };
  const touched = ended + running.length;
  const upTo = (step: Step, size: number): Progress => {
    return { step, size, room: Math.max(0, size - touched), failed };
  };
  const canaryAndWave = 1 + Math.ceil(total * share);
  if (ended === 0) return upTo('canary', 1);
  if (ended < canaryAndWave) return upTo('wave', canaryAndWave);
  return { step: 'rest', size: total, room: Number.POSITIVE_INFINITY, failed };
}

function isStopped(done: number, failed: number): boolean {
  if (failed > 0 && done === 0) return true;
  return failed > Math.max(1, share * (done + failed));
}

/** By name and not by time, which each retry changes: a message stays the same for as long as the nodes do. */
function namesOf(failures: readonly Failed[]): readonly string[] {
  return failures.map(({ node }) => node).toSorted();
}

/**
 * Whether a failure no longer counts, because a user continued the rollout after it. Clocks of controllers differ: a value that
 * was handled by a clock ahead of `now` does not excuse a failure that `now` calls past, as that may be a later one.
 */
export function isExcused(at: number, list: readonly Continued[], now: number): boolean {
  return list.some(({ at: handled, until = handled }) => {
    if (handled <= now && at <= handled) return true;
    const latest = Math.max(handled, until);
    return at <= latest && (latest <= now || at > now);
  });
}

/** The record of a value that is handled now; `failures` are the times of failures of its source. */
export function continuedNow(value: string, now: number, failures: readonly number[]): Continued {
  const latest = Math.max(now, ...failures);
  return { value, at: now, ...(latest > now ? { until: latest } : {}) };
}

const shownNames = 5;

/** Returns why a node waits; the text stays the same within a step, so that no status is written for each ended run. */
export function waitingMessage({ step, size, failed }: Progress, tally: Tally): string {
  const { total, running } = tally;
  const nodes = `${total} node${total === 1 ? '' : 's'}`;
  if (step === 'canary') {
    const [first] = running;
    const canary = first === undefined ? 'one node' : `node ${first}`;
    return `rollout to ${nodes}: ${canary} is changed first; the next step starts when it has ended well`;
  }
  if (step !== 'stopped') {
    return `rollout to ${nodes}: ${size} are changed first; the next step starts when they have ended well`;
  }
  const more = failed.length - shownNames;
  const names = `${failed.slice(0, shownNames).join(', ')}${more > 0 ? ` and ${more} more` : ''}`;
  return `rollout to ${nodes} is stopped: ${names} failed; correct the cause, or continue with a new value of the annotation multinic.io/rollout-continue on any object of the source`;
}
