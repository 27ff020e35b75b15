/** Wall time, monotonic time and sleeping; injected everywhere for tests with a controlled clock. */
export interface Clock {
  /** Wall-clock time. */
  now(): Date;
  /** Monotonic milliseconds, never going back; only differences are meaningful. */
  monotonicMs(): number;
  /**
   * Resolves after `ms` milliseconds: in the next turn if `ms` <= 0, and at latest after `maxSleepMs` (callers with
   * longer waits must check again). Rejects with the signal's reason if aborted first.
   */
  sleep(ms: number, signal?: AbortSignal): Promise<void>;
}

/**
 * Reason to abort a sleep that the caller no longer needs. `abort()` without a reason makes a DOMException with a stack
 * trace: 6 % of the CPU time for a part with busy watches.
 */
export const endOfWait = new Error('the wait has ended');

/** Returns true after `ms` milliseconds, false if the signal aborts first. */
export async function passed(clock: Clock, ms: number, signal: AbortSignal): Promise<boolean> {
  try {
    await clock.sleep(ms, signal);
    return true;
  } catch (error) {
    if (!signal.aborted) throw error;
    return false;
  }
}

/** Returns a number in [0, 1), like `Math.random`. */
export type Random = () => number;

/** Node.js timers hold 31 bits in milliseconds (24.8 days); a longer timer fires at once. */
export const maxSleepMs = 2 ** 31 - 1;

/** Clamps a delay to the timer range: Node.js warns about negative delays. */
export function timerMs(ms: number): number {
  return Math.min(Math.max(ms, 0), maxSleepMs);
}

/** The machine's clock. */
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
