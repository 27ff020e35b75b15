import { expect, test } from 'vitest';
import { namePatterns } from './name-patterns.ts';

test.each([
  ['nothing', [], ['*'], []],
  ['some names', ['ens*', '|eth?', '&e*', ' '], ['ens*', 'eth?', 'e*'], []],
  ['all but some', ['!ens3', '&!eno?'], ['*'], ['ens3', 'eno?']],
  ['some but one', ['ens*', '!ens3'], ['ens*'], ['ens3']],
  ['one, or whatever has not this name', ['eth0', '|!ens3'], ['*'], []],
  ['names that begin with a sign', [String.raw`\!a`, String.raw`&\|b`], ['!a', '|b'], []],
])('a profile is for %s', (_, items, patterns, except) => {
  expect(namePatterns(items)).toEqual({ patterns, except });
});
