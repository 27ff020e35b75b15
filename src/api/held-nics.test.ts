import { describe, expect, it } from 'vitest';
import {
  coveredNics,
  digestsOf,
  isWithin,
  mayCover,
  mergedDigests,
  mostDigests,
  type WaitingNic,
} from './held-nics.ts';

const nic = (n: number, change: Partial<WaitingNic> = {}): WaitingNic => ({
  cluster: 'biz-1',
  subject: 's1',
  macAddress: `fa:16:3e:00:${Math.floor(n / 256).toString(16)}:${(n % 256).toString(16)}`,
  ...change,
});
const nics = (count: number, first = 0) =>
  Array.from({ length: count }, (_, at) => nic(first + at));
const limit = mostDigests;

describe('digests of held NICs', () => {
  it('digests have 8 hex digits for each NIC, sorted, at most 20,000 characters', () => {
    expect(digestsOf([])).toBe('');
    expect(digestsOf(nics(3))).toMatch(/^[0-9a-f]{24}$/);
    expect(digestsOf(nics(3).toReversed())).toBe(digestsOf([...nics(3), nic(0)]));
    expect(digestsOf(nics(limit)).length).toBeLessThanOrEqual(20_000);
  });

  it.each<[what: string, change: Partial<WaitingNic>, covered: number]>([
    ['the same NIC', {}, 1],
    ['the same NIC with an upper-case MAC', { macAddress: nic(7).macAddress.toUpperCase() }, 1],
    ['the NIC in a second business cluster', { cluster: 'biz-2' }, 0],
    ['the same NIC under a different subject', { subject: 's2' }, 0],
    ['a NIC without name', { macAddress: '' }, 0],
  ])('a consent covers %s: %o', (_, change, covered) => {
    const later = [nic(7, change)];
    const digests = digestsOf(nics(11));
    expect(coveredNics(digests, later).size).toBe(covered);
    expect(later.filter(mayCover(digests))).toHaveLength(covered);
  });

  it.each<[what: string, later: readonly WaitingNic[], covered: number]>([
    ['the equal set in a different order', nics(limit + 1).toReversed(), limit + 1],
    ['a smaller set', nics(limit), 0],
    ['a larger set', nics(limit + 2), 0],
    ['one NIC', [nic(0)], 0],
    [
      'the equal set beside NICs in a second business cluster',
      [...nics(limit + 1), nic(0, { cluster: 'biz-2' })],
      limit + 1,
    ],
  ])('a consent to more than 2,500 NICs covers for %s %i NICs', (_, later, covered) => {
    const digests = digestsOf(nics(limit + 1));
    expect(digests).toMatch(/^=[0-9a-f]{64}$/);
    expect(coveredNics(digests, later).size).toBe(covered);
  });

  it('an empty set covers nothing', () => {
    expect(coveredNics('', nics(2)).size).toBe(0);
    expect(nics(2).filter(mayCover(''))).toEqual([]);
  });

  it.each<[now: WaitingNic[], before: WaitingNic[], isPart: boolean]>([
    [nics(2), nics(3), true],
    [nics(3), nics(2), false],
    [nics(limit + 1), nics(limit + 1), true],
    [nics(limit), nics(limit + 1), false],
  ])(
    'digests are within earlier digests only with the same NICs (case %#)',
    (now, before, isPart) => {
      expect(isWithin(digestsOf(now), digestsOf(before))).toBe(isPart);
    },
  );

  it('above 2,500 NICs, merged digests equal the earlier digests', () => {
    const before = digestsOf(nics(limit));
    expect(mergedDigests(before, digestsOf(nics(3, limit)))).toBe(before);
  });

  it('merged digests contain the NICs from both sets, or stay a hash', () => {
    expect(mergedDigests(digestsOf(nics(3)), digestsOf(nics(3, 2)))).toBe(digestsOf(nics(5)));
    const whole = digestsOf(nics(limit + 1));
    expect(mergedDigests(whole, digestsOf(nics(1)))).toBe(whole);
    expect(mergedDigests('', whole)).toBe(whole);
  });
});
