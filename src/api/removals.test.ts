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
    ['as many as always may', items(10), [], 10, 0],
    ['one more', items(11), [], 10, 11],
    ['a fifth of many', items(20), [], 100, 0],
    ['one more than a fifth', items(21), [], 100, 21],
    ['named ones beside proven ones', [...items(6), ...items(5, { basis: 'named' })], [], 10, 11],
    ['with those of just before', items(6), ['a', 'b', 'c', 'd', 'e'], 10, 6],
    [
      'one that is tried again counts once',
      items(1),
      ['proven 0', 'a', 'b', 'c', 'd', 'e', 'f', 'g', 'h', 'i'],
      10,
      0,
    ],
    [
      'side effects at any number, and nobody else for them',
      [...items(10), ...items(1, { basis: 'sideEffect' })],
      [],
      10,
      1,
    ],
    ['nothing that has consent', items(40, { hasConsent: true }), [], 40, 0],
    ['side effects with consent', items(40, { basis: 'sideEffect', hasConsent: true }), [], 40, 0],
    [
      'others beside consent are counted without it',
      [...items(8), ...items(8, { basis: 'named', hasConsent: true })],
      [],
      10,
      0,
    ],
    ['recent ones alone', [], ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h', 'i', 'j', 'k'], 10, 0],
  ])('holds %s', (_, removals, recent, total, held) => {
    const decision = decideRemovals({ removals, recent, total, limit: removalLimits.nicsOfCloud });
    expect(decision.held.size).toBe(held);
  });
});
