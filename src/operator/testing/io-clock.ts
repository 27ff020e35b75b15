import type { Clock } from '../../time/clock.ts';

/** A clock for tests with real sockets: retry pauses end at once, longer waits end by `skip`. */
export interface IoClock extends Clock {
  skip(ms: number): void;
}

/** Milliseconds; longer than any retry pause within a call, shorter than any call's timeout. */
const longestPauseMs = 3_000;

export function createIoClock(start = new Date('2026-01-01T00:00:00Z')): IoClock {
  const waiting = new Set<{ readonly due: number; readonly wake: () => void }>();
  let elapsed = 0;

  function skip(ms: number): void {
    elapsed += ms;
    for (const wait of waiting) if (wait.due <= elapsed) wait.wake();
  }

  return {
    now: () => new Date(start.getTime() + elapsed),
    monotonicMs: () => elapsed,
    async sleep(ms, signal) {
      signal?.throwIfAborted();
      const { promise, resolve, reject } = Promise.withResolvers<void>();
      const wait = { due: elapsed + ms, wake: resolve };
      const onAbort = () => reject(signal?.reason);
      waiting.add(wait);
      signal?.addEventListener('abort', onAbort, { once: true });
      if (ms <= longestPauseMs) setImmediate(skip, ms);
      await promise.finally(() => {
        waiting.delete(wait);
        signal?.removeEventListener('abort', onAbort);
      });
    },
    skip,
  };
}
