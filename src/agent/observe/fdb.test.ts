import { expect, test } from 'vitest';
import { parseUnicastFilter } from './fdb.ts';

test.each([
  ['macvlan in another namespace', { mac: '02:00:00:00:02:01', flags: ['self'] }, 1],
  ['group address', { mac: '01:00:5e:00:00:01', flags: ['self'] }, 0],
  ['group address of IPv6', { mac: '33:33:00:00:00:01', flags: ['self'] }, 0],
  ['address that a bridge has learned', { mac: '02:00:00:00:02:01', master: 'br0' }, 0],
])('the unicast filter of a link counts a %s as it shall', (_what, entry, count) => {
  expect(parseUnicastFilter(JSON.stringify([entry]))).toHaveLength(count);
});

test('the unicast filter of a link is empty in an empty answer', () => {
  expect(parseUnicastFilter('[]\n')).toEqual([]);
});
