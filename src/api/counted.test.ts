import { expect, it } from 'vitest';
import { counted } from './counted.ts';

it.each([
  [0, '0 NICs'],
  [1, '1 NIC'],
  [2, '2 NICs'],
  [21, '21 NICs'],
])('counted(%i) uses the singular for exactly one NIC', (count, text) => {
  expect(counted(count, 'NIC')).toBe(text);
});

it('counted uses the given plural form of an irregular noun', () => {
  expect(counted(1, 'entry', 'entries')).toBe('1 entry');
  expect(counted(3, 'entry', 'entries')).toBe('3 entries');
});
