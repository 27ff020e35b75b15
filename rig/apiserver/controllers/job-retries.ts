import type { Clock } from '../../../src/time/clock.ts';

const firstMs = 10_000;
const longestMs = 600_000;

/** When a Job may try again after a failed Pod: 10 s later, doubled each time, at most 10 min. */
export class JobRetries {
  readonly #clock: Clock;
  readonly #known = new Map<string, { readonly failed: number; readonly notBeforeMs: number }>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Milliseconds to wait before the next Pod of the Job with this uid and number of failures. */
  leftMs(uid: string, failed: number): number {
    const now = this.#clock.monotonicMs();
    const known = this.#known.get(uid) ?? { failed: 0, notBeforeMs: 0 };
    const delayMs = Math.min(firstMs * 2 ** (failed - 1), longestMs);
    const current = failed > known.failed ? { failed, notBeforeMs: now + delayMs } : known;
    this.#known.set(uid, current);
    return Math.max(0, current.notBeforeMs - now);
  }

  forget(uid: string): void {
    this.#known.delete(uid);
  }
}
