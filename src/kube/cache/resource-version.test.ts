import { expect, test } from 'vitest';
import { isNewer, isOlder } from './resource-version.ts';

test.each([
  ['10', '9', true],
  ['9', '10', false],
  ['10', '10', false],
  ['18446744073709551615', '18446744073709551614', true],
  ['abc', 'abd', true],
  ['abc', 'abc', false],
  [undefined, '1', true],
  ['1', undefined, true],
])('isNewer(%s, %s) returns %s', (version, than, newer) => {
  expect(isNewer(version, than)).toBe(newer);
});

test.each([
  ['9', '10', true],
  ['10', '9', false],
  ['10', '10', false],
  ['', '10', false],
  ['abc', 'abd', false],
])('isOlder(%s, %s) returns %s', (version, than, older) => {
  expect(isOlder(version, than)).toBe(older);
});
