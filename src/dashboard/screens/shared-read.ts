import type { Clock } from '../../time/clock.ts';

interface SharedReadOptions<T> {
  readonly clock: Clock;
  /** Shortest time between two starts (ms). */
  readonly pauseMs: number;
  /** Reads the value; the signal ends a read without callers. */
  readonly read: (signal: AbortSignal) => Promise<T>;
}

interface Running<T> {
  readonly value: Promise<T>;
  readonly end: AbortController;
  callers: number;
}

/** A long read for several callers: one at a time, only on request, and with a pause between two starts. */
export class SharedRead<T> {
  readonly #options: SharedReadOptions<T>;
  #latest: { readonly value: T; readonly startedAt: number } | undefined;
  #running: Running<T> | undefined;

  constructor(options: SharedReadOptions<T>) {
    this.#options = options;
  }

  /** The last value, of any age; undefined: none. */
  get latest(): T | undefined {
    return this.#latest?.value;
  }

  /** Returns the last value within the pause, else joins or starts a read. Rejects with the reason of the signal. */
  async value(signal: AbortSignal): Promise<T> {
    signal.throwIfAborted();
    const { clock, pauseMs } = this.#options;
    const latest = this.#latest;
    if (latest && clock.monotonicMs() - latest.startedAt < pauseMs) return latest.value;
    return this.#join((this.#running ??= this.#start()), signal);
  }

  async #join(running: Running<T>, signal: AbortSignal): Promise<T> {
    const { promise: left, reject } = Promise.withResolvers<never>();
    const onAbort = () => reject(signal.reason);
    signal.addEventListener('abort', onAbort, { once: true });
    running.callers += 1;
    try {
      return await Promise.race([running.value, left]);
    } finally {
      signal.removeEventListener('abort', onAbort);
      running.callers -= 1;
      if (running.callers === 0) this.#end(running);
    }
  }

  #start(): Running<T> {
    const { clock, read } = this.#options;
    const end = new AbortController();
    const startedAt = clock.monotonicMs();
    const value = read(end.signal).then((found) => {
      if (!end.signal.aborted) this.#latest = { value: found, startedAt };
      return found;
    });
    return { value, end, callers: 0 };
  }

  #end(running: Running<T>): void {
    if (this.#running === running) this.#running = undefined;
    running.end.abort(new Error('no caller waits for the read'));
    // After the last caller a failure has no reader.
    running.value.catch(() => undefined);
  }
}
