/**
 * One read for all who wait: whoever asks while one is on its way shares the next one, so that what everybody gets was
 * read after he asked. A hundred deletions cost two lists, not a hundred.
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
    // For its end, good or bad: how it ended is told to those who wait for it.
    await Promise.allSettled([before]);
    const reading = read(signal);
    running = reading;
    next = undefined;
    return reading;
  }
}
