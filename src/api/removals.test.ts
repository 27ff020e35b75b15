import { describe, expect, it } from 'vitest';
import { decideRemovals, type PendingRemoval, removalLimits } from './removals.ts';

const items = (count: number, rest: Partial<PendingRemoval> = {}): PendingRemoval[] =>
  Array.from({ length: count }, (_, n) => ({
    item: `${rest.basis ?? 'proven'} ${n}`,
    basis: 'proven',
    hasConsent: false,
    ...rest,
  }));

describe('decideRemovals', () => {
  it.each<
    [what: string, removals: PendingRemoval[], recent: string[], total: number, held: number]
  >([
    ['removals up to the fixed limit', items(10), [], 10, 0],
    ['one removal above the fixed limit', items(11), [], 10, 11],
    ['removals up to 20 %', items(20), [], 100, 0],
    ['one removal above 20 %', items(21), [], 100, 21],
    [
      'named and proven removals together',
      [...items(6), ...items(5, { basis: 'named' })],
      [],
      10,
      11,
    ],
    ['removals together with recent removals', items(6), ['a', 'b', 'c', 'd', 'e'], 10, 6],
    [
      'a retried removal, counted once',
      items(1),
      ['proven 0', 'a', 'b', 'c', 'd', 'e', 'f', 'g', 'h', 'i'],
      10,
      0,
    ],
    [
      'only the side effects beside allowed removals',
      [...items(10), ...items(1, { basis: 'sideEffect' })],
      [],
      10,
      1,
    ],
    ['removals with consent', items(40, { hasConsent: true }), [], 40, 0],
    ['side effects with consent', items(40, { basis: 'sideEffect', hasConsent: true }), [], 40, 0],
    [
      'removals beside others with consent',
      [...items(8), ...items(8, { basis: 'named', hasConsent: true })],
      [],
      10,
      0,
    ],
    ['recent removals alone', [], ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h', 'i', 'j', 'k'], 10, 0],
  ])('decideRemovals holds %5$s items given %1$s', (_, removals, recent, total, held) => {
    const decision = decideRemovals({ removals, recent, total, limit: removalLimits.nicsOfCloud });
    expect(decision.held.size).toBe(held);
  });
});
