import { expect, test } from 'vitest';
import { namePatterns } from './name-patterns.ts';

test.each([
  ['no items matches all names', [], ['*'], []],
  ['names returns them as patterns', ['ens*', '|eth?', '&e*', ' '], ['ens*', 'eth?', 'e*'], []],
  ['exclusions only matches all other names', ['!ens3', '&!eno?'], ['*'], ['ens3', 'eno?']],
  ['a pattern and an exclusion returns both', ['ens*', '!ens3'], ['ens*'], ['ens3']],
  ['an optional exclusion matches all names', ['eth0', '|!ens3'], ['*'], []],
  ['escaped signs returns names with signs', [String.raw`\!a`, String.raw`&\|b`], ['!a', '|b'], []],
])('namePatterns with %s', (_, items, patterns, except) => {
  expect(namePatterns(items)).toEqual({ patterns, except });
});
