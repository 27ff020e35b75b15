import type { Random } from '../../time/clock.ts';

/** At most so many of the items, chosen at random when there are more, so that none waits for ever behind others. */
export function randomSample<T>(items: readonly T[], count: number, random: Random): T[] {
  if (items.length <= count) return [...items];
  return items
    .map((item) => ({ item, order: random() }))
    .toSorted((a, b) => a.order - b.order)
    .slice(0, count)
    .map(({ item }) => item);
}
