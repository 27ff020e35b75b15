/** Maps in order of the input with at most `limit` calls at once; the first failure ends it. */
export async function mapBounded<T, R>(
  items: readonly T[],
  limit: number,
  map: (item: T) => Promise<R>,
): Promise<R[]> {
  const results = new Map<number, R>();
  const waiting = items.entries();
  const work = async (): Promise<void> => {
    for (const [position, item] of waiting) results.set(position, await map(item));
  };
  await Promise.all(Array.from({ length: Math.min(limit, items.length) }, work));
  return [...results].toSorted(([a], [b]) => a - b).map(([, result]) => result);
}
