import type { Clock } from '../../time/clock.ts';
import { withDeadline } from '../../time/deadline.ts';

const readsAtOnce = 4;
const timeoutMs = 10_000;

/** Limited reads for callers: at most four at once, each for at most 10 s including the wait. */
export class LimitedReads {
  readonly #clock: Clock;
  readonly #waiting: (() => void)[] = [];
  #running = 0;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Runs a read. Throws DeadlineReached when the time is over. */
  async run<T>(read: (signal: AbortSignal) => Promise<T>, signal?: AbortSignal): Promise<T> {
    return withDeadline({ clock: this.#clock, ms: timeoutMs, signal }, async (limited) => {
      await this.#enter();
      try {
        limited.throwIfAborted();
        return await read(limited);
      } finally {
        this.#leave();
      }
    });
  }

  async #enter(): Promise<void> {
    if (this.#running < readsAtOnce) {
      this.#running += 1;
      return;
    }
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#waiting.push(resolve);
    // An ended read hands over a slot.
    await promise;
  }

  #leave(): void {
    const next = this.#waiting.shift();
    if (next) next();
    else this.#running -= 1;
  }
}
