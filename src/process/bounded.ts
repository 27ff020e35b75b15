/**
 * Maps `items` with at most `limit` calls under way, results in order; the first failure aborts the signal of the
 * others and is thrown, as is the reason of `signal`.
 */
export async function mapBounded<T, R>(
  items: readonly T[],
  limit: number,
  map: (item: T, signal: AbortSignal) => Promise<R>,
  signal?: AbortSignal,
): Promise<R[]> {
  signal?.throwIfAborted();
  const stop = new AbortController();
  // Not AbortSignal.any, which leaves an entry behind on a signal that lives as long as the process.
  const onAbort = (): void => stop.abort(signal?.reason);
  signal?.addEventListener('abort', onAbort, { once: true });
  const results: R[] = [];
  const queue = items.entries();

  async function work(): Promise<void> {
    for (const [index, item] of queue) {
      stop.signal.throwIfAborted();
      results[index] = await map(item, stop.signal);
    }
  }

  const workers = Array.from({ length: Math.min(limit, items.length) }, work);
  try {
    await Promise.all(workers);
  } finally {
    signal?.removeEventListener('abort', onAbort);
    stop.abort();
    await Promise.allSettled(workers);
  }
  return results;
}
