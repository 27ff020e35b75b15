import { hash } from 'node:crypto';
import type { JobResult } from '../../api/job.ts';
import { canonicalJson } from '../../api/spec-hash.ts';
import type { Clock } from '../../time/clock.ts';
import type { Applied } from '../jobs/applied.ts';

/** Longest pause between two `checkedAt` writes: each write changes Viola's ETag. */
const writePauseMs = 21_600_000;

/** A node's last successful check in this process. */
interface Confirmation {
  readonly answer: string;
  /** Job and `checkedAt` in the written record. */
  readonly record: string;
  /** Milliseconds on the monotonic clock. */
  readonly writtenAt: number;
  readonly at: number;
  readonly wallTime: Date;
}

/** Shared: ten thousand nodes have none after a restart. */
const none: Confirmation = {
  answer: '',
  record: '',
  writtenAt: -Infinity,
  at: -Infinity,
  wallTime: new Date(0),
};

/** Checks with the same answer as the last written check: they confirm the node without a write. */
export class Confirmations {
  readonly #clock: Clock;
  readonly #known = new Map<string, Confirmation>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Returns age and time for a check later than the record; undefined: none. */
  since(key: string, applied: Applied): { readonly ageMs: number; readonly at: Date } | undefined {
    const known = this.#known.get(key);
    if (known?.record !== recordKey(applied)) return undefined;
    return { ageMs: this.#clock.monotonicMs() - known.at, at: known.wallTime };
  }

  /** True if the status holds this answer already, written within six hours; the check is noted then. */
  repeats(key: string, applied: Applied, result: JobResult): boolean {
    const known = this.#known.get(key);
    const now = this.#clock.monotonicMs();
    const isSame = known?.record === recordKey(applied) && known.answer === answerOf(result);
    if (!known || !isSame || now - known.writtenAt >= writePauseMs) return false;
    this.#known.set(key, { ...known, at: now, wallTime: this.#clock.now() });
    return true;
  }

  /**
   * Call for each node before its first check in this process: spreads the first checks after a restart over one
   * interval, because the record of a confirmed node may be six hours old. The next answer is written, because the last
   * one is unknown. Later calls change nothing.
   */
  assume(key: string, applied: Applied, age: { recordMs: number; intervalMs: number }): void {
    const { recordMs, intervalMs } = age;
    if (this.#known.has(key)) return;
    if (recordMs < intervalMs || recordMs >= writePauseMs) return this.failed(key);
    const now = this.#clock.monotonicMs();
    const sinceMs = recordMs % intervalMs;
    this.#known.set(key, {
      answer: '',
      record: recordKey(applied),
      writtenAt: now - recordMs,
      at: now - sinceMs,
      wallTime: new Date(this.#clock.now().getTime() - sinceMs),
    });
  }

  /** Call after a failed check: the record alone says when the node was confirmed. */
  failed(key: string): void {
    this.#known.set(key, none);
  }

  /** Notes a check whose record is written. */
  wrote(key: string, record: Applied, result: JobResult): void {
    const now = this.#clock.monotonicMs();
    const answer = answerOf(result);
    const wallTime = this.#clock.now();
    const written = { writtenAt: now, at: now, wallTime };
    this.#known.set(key, { answer, record: recordKey(record), ...written });
  }

  /** Call when the object is gone. */
  forget(key: string): void {
    this.#known.delete(key);
  }
}

function recordKey({ job, checkedAt = '' }: Applied): string {
  return `${job} ${checkedAt}`;
}

/** Returns a hash over the answer without attempt and fence: ten thousand nodes have one each. */
function answerOf({ outcome, nics, warnings, known, family }: JobResult): string {
  return hash('sha256', canonicalJson({ outcome, nics, warnings, known, family })).slice(0, 32);
}
