/**
 * Maps `items` with at most `limit` calls under way, results in order; the first failure aborts the signal of the
 * others and is thrown.
 */
export async function mapBounded<T, R>(
  items: readonly T[],
  limit: number,
  signal: AbortSignal,
  map: (item: T, signal: AbortSignal) => Promise<R>,
): Promise<R[]> {
  const stop = new AbortController();
  const either = AbortSignal.any([signal, stop.signal]);
  const results: R[] = [];
  const queue = items.entries();

  async function work(): Promise<void> {
    for (const [index, item] of queue) {
      either.throwIfAborted();
      results[index] = await map(item, either);
    }
  }

  const workers = Array.from({ length: Math.min(limit, items.length) }, work);
  try {
    await Promise.all(workers);
  } finally {
    stop.abort();
    await Promise.allSettled(workers);
  }
  return results;
}
