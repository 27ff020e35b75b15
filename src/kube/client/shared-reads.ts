/**
 * Shares reads among concurrent callers. A call during a running read joins the next read, hence every result is newer
 * than the call. A hundred deletions cost two lists instead of a hundred.
 */
export function sharedReads<T>(
  read: (signal: AbortSignal) => Promise<T>,
): (signal: AbortSignal) => Promise<T> {
  let running: Promise<unknown> | undefined;
  let next: Promise<T> | undefined;

  return (signal) => {
    next ??= start(running, signal);
    return next;
  };

  async function start(before: Promise<unknown> | undefined, signal: AbortSignal): Promise<T> {
    // Wait for the running read, successful or not; only earlier callers get an error from the running read.
    await Promise.allSettled([before]);
    const reading = read(signal);
    running = reading;
    next = undefined;
    return reading;
  }
}
