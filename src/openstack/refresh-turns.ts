import type { Clock } from '../time/clock.ts';

/** Minimum time between refreshes (5 s): longer than a sync, shorter than a poll interval. */
const intervalMs = 5_000;

/**
 * Spreads cache refreshes per account. Entries read together expire together; without spreading, one sync in fifteen
 * would cost 50 % more.
 */
export class RefreshTurns {
  readonly #clock: Clock;
  #last = Number.NEGATIVE_INFINITY;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Claims the next refresh: true if a stale but usable entry should be read now. */
  take(): boolean {
    const free = this.#clock.monotonicMs() - this.#last >= intervalMs;
    if (free) this.spend();
    return free;
  }

  /** Records an unavoidable read, which delays the next refresh. */
  spend(): void {
    this.#last = this.#clock.monotonicMs();
  }
}
