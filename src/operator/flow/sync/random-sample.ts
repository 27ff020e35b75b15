import type { Random } from '../../../time/clock.ts';

/** Returns at most `count` items, chosen at random if there are more: over many syncs every item is chosen. */
export function randomSample<T>(items: readonly T[], count: number, random: Random): T[] {
  if (items.length <= count) return [...items];
  return items
    .map((item) => ({ item, order: random() }))
    .toSorted((a, b) => a.order - b.order)
    .slice(0, count)
    .map(({ item }) => item);
}
