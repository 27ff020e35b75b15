/**
 * Maps `items` with at most `limit` concurrent calls, results in order. The first failure aborts all running calls
 * and is thrown; an abort of `signal` throws its reason.
 */
export async function mapBounded<T, R>(
  items: readonly T[],
  limit: number,
  map: (item: T, signal: AbortSignal) => Promise<R>,
  signal?: AbortSignal,
): Promise<R[]> {
  signal?.throwIfAborted();
  const stop = new AbortController();
  // AbortSignal.any would leak an entry on signals living as long as the process.
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
