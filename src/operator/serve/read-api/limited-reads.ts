import type { Clock } from '../../../time/clock.ts';
import { withDeadline } from '../../../time/deadline.ts';

const readsAtOnce = 4;
/** Longest wait for a caller: below the 10 s of `multinic`, so the answer names the silent service. */
export const callerWaitMs = 8_000;

interface Lane {
  readonly waiting: (() => void)[];
  running: number;
}

/**
 * Limited reads for callers: at most four at once per lane, each for at most 8 s including the wait. Each business
 * cluster has its own lane, so a hanging cluster delays only its own reads.
 */
export class LimitedReads {
  readonly #clock: Clock;
  readonly #lanes = new Map<string, Lane>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Runs a read. Throws DeadlineReached when the time is over. */
  async run<T>(
    lane: string,
    read: (signal: AbortSignal) => Promise<T>,
    signal?: AbortSignal,
  ): Promise<T> {
    return withDeadline({ clock: this.#clock, ms: callerWaitMs, signal }, async (limited) => {
      await this.#enter(lane);
      try {
        limited.throwIfAborted();
        return await read(limited);
      } finally {
        this.#leave(lane);
      }
    });
  }

  async #enter(name: string): Promise<void> {
    const lane = this.#lanes.get(name) ?? { waiting: [], running: 0 };
    this.#lanes.set(name, lane);
    if (lane.running < readsAtOnce) {
      lane.running += 1;
      return;
    }
    const { promise, resolve } = Promise.withResolvers<void>();
    lane.waiting.push(resolve);
    // An ended read hands over a slot.
    await promise;
  }

  #leave(name: string): void {
    const lane = this.#lanes.get(name);
    if (!lane) return;
    const next = lane.waiting.shift();
    if (next) next();
    else lane.running -= 1;
    if (lane.running === 0) this.#lanes.delete(name);
  }
}
