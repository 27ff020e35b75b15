import { expect, test } from 'vitest';
import { parseUnicastFilter } from './fdb.ts';

test.each([
  [
    'macvlan in another namespace returns the MAC',
    { mac: '02:00:00:00:02:01', flags: ['self'] },
    1,
  ],
  ['group address returns nothing', { mac: '01:00:5e:00:00:01', flags: ['self'] }, 0],
  ['IPv6 group address returns nothing', { mac: '33:33:00:00:00:01', flags: ['self'] }, 0],
  ['bridge-learned address returns nothing', { mac: '02:00:00:00:02:01', master: 'br0' }, 0],
])('parseUnicastFilter with a %s', (_what, entry, count) => {
  expect(parseUnicastFilter(JSON.stringify([entry]))).toHaveLength(count);
});

test('parseUnicastFilter returns an empty list for an empty answer', () => {
  expect(parseUnicastFilter('[]\n')).toEqual([]);
});
