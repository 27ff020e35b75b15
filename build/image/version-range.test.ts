import { expect, it } from 'vitest';
import { isInRange } from './version-range.ts';

it.each([
  ['3.9.3', '<3.9.4'],
  ['3.9.3', '<= 3.9.3'],
  ['10.0.0', '>9.9.9'],
  ['1.2.3', '1.2.3'],
  ['1.2.3+build', '=1.2.3'],
  ['7.5.1', '>=7.0.0 <7.5.2 || >=6.0.0 <6.3.1'],
  ['6.3.0', '>=7.0.0, <7.5.2 || >=6.0.0, <6.3.1'],
  ['2.0.0-5', '>=2.0.0-5 <2.2.2'],
  ['2.0.0-10', '>=2.0.0-5 <2.2.2'],
  ['2.0.0-rc.1', '<2.0.0'],
  ['2.0.0-alpha.1', '>2.0.0-alpha'],
  ['2.0.0-beta', '>2.0.0-alpha.9'],
  ['2.0.0-beta', '>2.0.0-9'],
  ['0.0.1', '*'],
])('%s is in %s', (version, range) => {
  expect(isInRange(version, range)).toBe(true);
});

it.each([
  ['3.9.4', '<3.9.4'],
  ['3.10.0', '<3.9.4'],
  ['6.3.1', '>=7.0.0 <7.5.2 || >=6.0.0 <6.3.1'],
  ['2.0.0-4', '>=2.0.0-5 <2.2.2'],
  ['2.0.0', '=2.0.0-rc.1'],
  ['2.0.1', '2.0.0'],
])('%s is not in %s', (version, range) => {
  expect(isInRange(version, range)).toBe(false);
});

it('an invalid version throws', () => {
  expect(() => isInRange('latest', '<1.0.0')).toThrow('"latest" is no version');
});
