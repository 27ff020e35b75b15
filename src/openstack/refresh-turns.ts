import type { Clock } from '../time/clock.ts';

/** Longer than a sync takes, shorter than a poll. */
const everyMs = 5_000;

/**
 * Spreads the refreshing of what is remembered about a cloud: things read together grow old together, and would make one
 * sync in fifteen cost half as much again.
 */
export class RefreshTurns {
  readonly #clock: Clock;
  #last = Number.NEGATIVE_INFINITY;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Whether something that may be used a little longer is read again now. */
  take(): boolean {
    const free = this.#clock.monotonicMs() - this.#last >= everyMs;
    if (free) this.spend();
    return free;
  }

  /** Something that could not wait was read. */
  spend(): void {
    this.#last = this.#clock.monotonicMs();
  }
}
