import { expect, it } from 'vitest';
import { contains, ipOf, overlaps } from '../../api/address.ts';
import { mergedPrefixes } from './merged-prefixes.ts';

it.each<[string, readonly string[], number, readonly string[]]>([
  ['nothing', [], 64, []],
  ['equal prefixes', ['10.96.0.0/12', '10.96.0.0/12'], 64, ['10.96.0.0/12']],
  ['a prefix inside another', ['10.96.3.0/24', '10.96.0.0/12'], 64, ['10.96.0.0/12']],
  ['both halves', ['10.0.1.0/24', '10.0.0.0/24', '10.0.2.0/23'], 64, ['10.0.0.0/22']],
  [
    'neighbours in different networks',
    ['10.0.1.0/24', '10.0.2.0/24'],
    64,
    ['10.0.1.0/24', '10.0.2.0/24'],
  ],
  ['both families', ['fd00::/112', '10.0.0.1/32'], 64, ['10.0.0.1/32', 'fd00::/112']],
  ['host bits', ['10.96.0.7/12'], 64, ['10.96.0.0/12']],
  ['IPv6 halves', ['fd00::8000/113', 'fd00::/113'], 64, ['fd00::/112']],
  [
    'the closest neighbours first',
    ['10.0.0.1/32', '10.0.0.2/32', '10.9.0.1/32'],
    2,
    ['10.0.0.0/30', '10.9.0.1/32'],
  ],
  [
    'neighbours in one family only',
    ['10.0.0.1/32', 'fd00::1/128', 'fd00::2/128'],
    2,
    ['10.0.0.1/32', 'fd00::/126'],
  ],
  ['a run of neighbours', ['10.0.0.1/32', '10.0.0.2/32', '10.0.0.4/32'], 1, ['10.0.0.0/29']],
  ['distant networks: the rest is cut', ['10.0.0.1/32', '172.16.0.1/32'], 1, ['10.0.0.1/32']],
])('mergedPrefixes merges %s', (_, prefixes, most, expected) => {
  expect(mergedPrefixes(prefixes, most)).toEqual(expected);
});

it('mergedPrefixes returns at most 64 prefixes that cover 3,000 Service addresses', () => {
  const services = Array.from(
    { length: 3000 },
    (_, n) => `10.${96 + (n % 16)}.${(n * 37) % 256}.${(n * 101) % 256}/32`,
  );
  const merged = mergedPrefixes(services, 64);
  expect(merged.length).toBeLessThanOrEqual(64);
  const uncovered = services.filter((each) => !merged.some((wide) => contains(wide, ipOf(each))));
  expect(uncovered).toEqual([]);
  expect(merged.filter((each) => !overlaps(each, '10.96.0.0/12'))).toEqual([]);
  expect(merged.filter((each) => overlaps(each, '10.112.0.0/12'))).toEqual([]);
});
