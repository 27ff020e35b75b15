import { type Clock, timerMs } from './clock.ts';

/** A test clock that moves only on request. */
export interface FakeClock extends Clock {
  /** Advances time and wakes every due sleeper, oldest first. */
  advance(ms: number): Promise<void>;
  /** Shifts the wall clock by `ms`, like an administrator; sleepers are unaffected. */
  setWall(ms: number): void;
  /** Milliseconds until each sleeper is due, next first. */
  readonly waits: readonly number[];
}

interface Sleeper {
  readonly due: number;
  readonly wake: () => void;
}

/** Creates a fake clock starting at `start`, with the same maximum sleep as a real clock. */
export function createFakeClock(start = new Date('2026-01-01T00:00:00Z')): FakeClock {
  const waiting = new Set<Sleeper>();
  let elapsed = 0;
  let setBy = 0;

  function sleep(ms: number, signal?: AbortSignal): Promise<void> {
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const end = (settle: () => void): void => {
      waiting.delete(sleeper);
      signal?.removeEventListener('abort', onAbort);
      settle();
    };
    const onAbort = (): void => end(() => reject(signal?.reason));
    const due = elapsed + timerMs(ms);
    const sleeper: Sleeper = { due, wake: () => end(resolve) };
    waiting.add(sleeper);
    if (signal?.aborted) onAbort();
    else signal?.addEventListener('abort', onAbort, { once: true });
    return promise;
  }

  async function advance(ms: number): Promise<void> {
    const end = elapsed + ms;
    for (;;) {
      await settled();
      const [next] = [...waiting].toSorted((a, b) => a.due - b.due);
      if (!next || next.due > end) break;
      elapsed = Math.max(elapsed, next.due);
      next.wake();
    }
    elapsed = end;
    await settled();
  }

  return {
    now: () => new Date(start.getTime() + elapsed + setBy),
    setWall: (ms) => {
      setBy += ms;
    },
    monotonicMs: () => elapsed,
    sleep,
    advance,
    get waits() {
      return [...waiting].map(({ due }) => due - elapsed).toSorted((a, b) => a - b);
    },
  };
}

/** Runs all pending turns, except timers. */
export async function settled(): Promise<void> {
  for (let turn = 0; turn < 10; turn++) await new Promise((resolve) => setImmediate(resolve));
}

/** Waits until real I/O reaches a state; after 10 s rejects with `what`. */
export async function until(what: string, reached: () => boolean): Promise<void> {
  const limit = performance.now() + 10_000;
  while (!reached()) {
    if (performance.now() > limit) throw new Error(`waited for: ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 1));
  }
}
