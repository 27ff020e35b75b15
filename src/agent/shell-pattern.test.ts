import { expect, test } from 'vitest';
import { isPattern, matchesPattern } from './shell-pattern.ts';

test.each([
  ['en*', 'ens5', true],
  ['en*', 'xens5', false],
  ['en?', 'ens5', false],
  ['ens[5-7]', 'ens6', true],
  ['ens[!5]', 'ens5', false],
  ['ens[^5]', 'ens6', true],
  ['ens[^5]', 'ens^', true],
  ['en.5', 'ens5', false],
  ['e\\*5', 'ens5', false],
  ['e\\*5', 'e*5', true],
  ['en[s', 'ens', false],
  ['', 'ens5', false],
])('matchesPattern: pattern %j, text %j, result %s', (pattern, text, matches) => {
  expect(matchesPattern(text, pattern)).toBe(matches);
});

test('isPattern is false for a text without special characters', () => {
  expect(['ens5', 'ens?', 'en*', 'en[s]'].map(isPattern)).toEqual([false, true, true, true]);
});
