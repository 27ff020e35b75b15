import type { Clock } from './clock.ts';

/** A clock that stands still until a test moves it. */
export interface FakeClock extends Clock {
  /** Moves time forward and wakes every sleeper that is due, oldest first. */
  advance(ms: number): Promise<void>;
  /** How many sleepers wait. */
  readonly sleepers: number;
}

interface Sleeper {
  readonly due: number;
  wake(): void;
}

/** Makes a fake clock that starts at `start`. */
export function createFakeClock(start = new Date('2026-01-01T00:00:00Z')): FakeClock {
  let elapsed = 0;
  const waiting = new Set<Sleeper>();

  function sleep(ms: number, signal?: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      if (signal?.aborted) {
        reject(signal.reason as Error);
        return;
      }
      const sleeper: Sleeper = { due: elapsed + ms, wake: resolve };
      waiting.add(sleeper);
      signal?.addEventListener(
        'abort',
        () => {
          if (waiting.delete(sleeper)) reject(signal.reason as Error);
        },
        { once: true },
      );
    });
  }

  async function advance(ms: number): Promise<void> {
    const end = elapsed + ms;
    for (;;) {
      await settle();
      const next = [...waiting].toSorted((a, b) => a.due - b.due)[0];
      if (!next || next.due > end) break;
      elapsed = Math.max(elapsed, next.due);
      waiting.delete(next);
      next.wake();
    }
    elapsed = end;
    await settle();
  }

  return {
    now: () => new Date(start.getTime() + elapsed),
    monotonicMs: () => elapsed,
    sleep,
    advance,
    get sleepers() {
      return waiting.size;
    },
  };
}

/** Lets everything that is already resolved run, timers excepted. */
async function settle(): Promise<void> {
  for (let i = 0; i < 10; i++) await new Promise((resolve) => setImmediate(resolve));
}
