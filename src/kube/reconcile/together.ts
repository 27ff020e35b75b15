import type { Clock } from '../../time/clock.ts';
import { DeadlineReached, withDeadline } from '../../time/deadline.ts';

/** Grace period for concurrent work after a failure. */
const endMs = 10_000;

/** Error: after a failure, concurrent work ignored its abort and may still be writing. */
export class StillRunning extends Error {
  override readonly name = 'StillRunning';
}

/**
 * Runs several pieces of work as one, until the signal aborts and all have ended. The first failure, or unexpected
 * end, aborts all other work and is thrown: a process with a dead part must not look alive.
 */
export async function together(
  signal: AbortSignal,
  clock: Clock,
  runs: Readonly<Record<string, (signal: AbortSignal) => Promise<void>>>,
): Promise<void> {
  const children = new AbortController();
  const failed = Promise.withResolvers<never>();
  const end = (reason: unknown): void => children.abort(reason);
  const onAbort = (): void => end(signal.reason);
  if (signal.aborted) onAbort();
  signal.addEventListener('abort', onAbort, { once: true });

  async function child(name: string, run: (signal: AbortSignal) => Promise<void>): Promise<void> {
    try {
      await run(children.signal);
      if (!children.signal.aborted) throw new Error(`${name} ended without a request to stop`);
    } catch (error) {
      // Aborted work may end with any error.
      if (children.signal.aborted) return;
      failed.reject(error);
      end(error);
    }
  }

  const all = Promise.all(Object.entries(runs).map(([name, run]) => child(name, run)));
  try {
    await Promise.race([all, failed.promise]);
  } catch (error) {
    await ended(all, clock, error);
    throw error;
  } finally {
    signal.removeEventListener('abort', onAbort);
  }
}

async function ended(all: Promise<unknown>, clock: Clock, cause: unknown): Promise<void> {
  try {
    await withDeadline({ clock, ms: endMs }, () => all);
  } catch (error) {
    if (!(error instanceof DeadlineReached)) throw error;
    throw new StillRunning(`tasks still running ${endMs} ms after a failure`, { cause });
  }
}
