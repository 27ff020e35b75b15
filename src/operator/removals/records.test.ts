import { describe, expect, it } from 'vitest';
import { recordsOf, recordsWithin, withRecord } from './records.ts';

const now = new Date('2026-01-01T10:00:00Z');

function before(minutes: number, nics = 1, nodes = 1) {
  const at = new Date(now.getTime() - minutes * 60_000).toISOString().replace('.000', '');
  return { at, nics, nodes };
}

describe('records of removals', () => {
  it.each<[what: string, minutes: number, kept: number]>([
    ['59 minutes ago count', 59, 1],
    ['60 minutes ago do not count', 60, 0],
  ])('removals %s', (_, minutes, kept) => {
    expect(recordsWithin([before(minutes)], now)).toHaveLength(kept);
  });

  it('removals in the future count from now on, because a clock was set back', () => {
    expect(recordsWithin([before(-600, 3)], now)).toEqual([before(0, 3)]);
  });

  it('the 21st record merges the two oldest records with the later time', () => {
    const records = Array.from({ length: 20 }, (_, n) => before(50 - n, n + 1, 1));
    const merged = withRecord(records.toReversed(), { nics: 7, nodes: 2 }, now);
    expect(merged).toHaveLength(20);
    expect(merged[0]).toEqual(before(49, 3, 2));
    expect(merged.at(-1)).toEqual(before(0, 7, 2));
  });

  it.each<[what: string, removals: unknown]>([
    ['no list', 'many'],
    ['a record without time', [{ nics: 1, nodes: 1 }]],
    ['a record with an invalid time', [{ at: 'yesterday', nics: 1, nodes: 1 }]],
    ['a negative count', [{ ...before(1), nics: -9 }]],
  ])('status.removals with %s is unreadable', (_, removals) => {
    expect(recordsOf({ status: { removals } })).toBeUndefined();
  });

  it('a status without removals has no records', () => {
    expect([recordsOf({}), recordsOf({ status: {} })]).toEqual([[], []]);
  });
});
