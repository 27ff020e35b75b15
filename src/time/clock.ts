/** Wall time, monotonic time and waiting; injected everywhere so that tests decide what time it is. */
export interface Clock {
  /** Wall-clock time. */
  now(): Date;
  /** Milliseconds of a clock that never goes back; only differences mean something. */
  monotonicMs(): number;
  /**
   * Resolves after `ms` milliseconds; in the next turn when none are left, and no later than after `maxSleepMs`: who waits
   * longer looks again then. Rejects with the signal's reason when it aborts first.
   */
  sleep(ms: number, signal?: AbortSignal): Promise<void>;
}

/** Whether `ms` milliseconds have passed; false when the signal aborted before. */
export async function passed(clock: Clock, ms: number, signal: AbortSignal): Promise<boolean> {
  try {
    await clock.sleep(ms, signal);
    return true;
  } catch (error) {
    if (!signal.aborted) throw error;
    return false;
  }
}

/** A number in [0, 1), as `Math.random` gives it. */
export type Random = () => number;

/** A timer of Node.js holds 31 bits of milliseconds (24.8 days); one that is set for longer rings at once. */
export const maxSleepMs = 2 ** 31 - 1;

/** What a timer may be set for: less than nothing, as when a moment has passed already, is warned of by Node.js. */
export function timerMs(ms: number): number {
  return Math.min(Math.max(ms, 0), maxSleepMs);
}

/** The clock of the machine. */
export const systemClock: Clock = {
  now: () => new Date(),
  monotonicMs: () => performance.now(),
  sleep,
};

export const systemRandom: Random = () => Math.random();

function sleep(ms: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    if (signal?.aborted) {
      reject(abortReason(signal));
      return;
    }
    const onAbort = (): void => {
      clearTimeout(timer);
      reject(abortReason(signal));
    };
    const timer = setTimeout(() => {
      signal?.removeEventListener('abort', onAbort);
      resolve();
    }, timerMs(ms));
    signal?.addEventListener('abort', onAbort, { once: true });
  });
}

function abortReason(signal: AbortSignal | undefined): Error {
  return signal?.reason instanceof Error ? signal.reason : new Error('aborted');
}
