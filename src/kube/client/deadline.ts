import type { Clock } from '../clock.ts';

/** The time a piece of work was given has passed. */
export class DeadlineError extends Error {
  constructor(ms: number) {
    super(`no answer within ${Math.round(ms)} ms`);
    this.name = 'DeadlineError';
  }
}

/**
 * Runs `work` with a signal that aborts with `signal`'s reason, or with a `DeadlineError` after `ms`. Written by hand
 * because `AbortSignal.any` leaves an entry behind on a signal that lives as long as the process.
 */
export async function withDeadline<T>(
  { clock, ms, signal }: { clock: Clock; ms: number; signal?: AbortSignal | undefined },
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  signal?.throwIfAborted();
  const limit = new AbortController();
  const timer = new AbortController();
  const onAbort = (): void => limit.abort(signal?.reason);
  signal?.addEventListener('abort', onAbort, { once: true });
  clock.sleep(ms, timer.signal).then(
    () => limit.abort(new DeadlineError(ms)),
    () => undefined, // the work was faster
  );
  try {
    return await work(limit.signal);
  } catch (error) {
    // What an aborted request throws depends on where it stood; the reason says why.
    throw limit.signal.aborted ? limit.signal.reason : error;
  } finally {
    timer.abort();
    signal?.removeEventListener('abort', onAbort);
  }
}
