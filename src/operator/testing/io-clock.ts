import type { Clock } from '../../time/clock.ts';

/** A clock for tests with real sockets: pauses between tries are over at once, longer waits when the test says so. */
export interface IoClock extends Clock {
  skip(ms: number): void;
}

/** Longer than any pause that belongs to one call, shorter than any time limit of one. */
const longestPauseMs = 3_000;

export function createIoClock(start = new Date('2026-01-01T00:00:00Z')): IoClock {
  const waiting = new Set<{ readonly due: number; readonly wake: () => void }>();
  let elapsed = 0;

  function skip(ms: number): void {
    elapsed += ms;
    for (const one of waiting) if (one.due <= elapsed) one.wake();
  }

  return {
    now: () => new Date(start.getTime() + elapsed),
    monotonicMs: () => elapsed,
    async sleep(ms, signal) {
      signal?.throwIfAborted();
      const { promise, resolve, reject } = Promise.withResolvers<void>();
      const one = { due: elapsed + ms, wake: resolve };
      const onAbort = () => reject(signal?.reason);
      waiting.add(one);
      signal?.addEventListener('abort', onAbort, { once: true });
      if (ms <= longestPauseMs) setImmediate(skip, ms);
      await promise.finally(() => {
        waiting.delete(one);
        signal?.removeEventListener('abort', onAbort);
      });
    },
    skip,
  };
}
