/** Wall time, monotonic time and waiting; injected so that tests decide what time it is. */
export interface Clock {
  /** Wall-clock time. */
  now(): Date;
  /** Milliseconds of a clock that never goes back; only differences mean something. */
  monotonicMs(): number;
  /** Resolves after `ms` milliseconds; rejects with the signal's reason when it aborts first. */
  sleep(ms: number, signal?: AbortSignal): Promise<void>;
}

/** A number in [0, 1), as `Math.random` gives it. */
export type Random = () => number;
