import type { Clock } from './clock.ts';

/** The reason of a signal that was aborted because the time for the work was over. */
export class DeadlineReached extends Error {
  override readonly name = 'DeadlineReached';
}

/**
 * Runs `work` with a signal that aborts with `signal`, or with DeadlineReached after `ms` milliseconds. The whole
 * exchange is limited, not the gap between two bytes: a server that trickles would hold a gap timeout off for ever.
 */
export async function withDeadline<T>(
  clock: Clock,
  ms: number,
  signal: AbortSignal,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  signal.throwIfAborted();
  const inner = new AbortController();
  const timer = new AbortController();
  const onAbort = (): void => inner.abort(signal.reason);
  signal.addEventListener('abort', onAbort, { once: true });
  clock.sleep(ms, timer.signal).then(
    () => inner.abort(new DeadlineReached(`no answer within ${ms / 1000} s`)),
    () => undefined, // the work was faster and stopped the timer
  );
  try {
    return await work(inner.signal);
  } finally {
    timer.abort();
    signal.removeEventListener('abort', onAbort);
  }
}
