import { expect, it } from 'vitest';
import { namedSome, namedSomeInKorean } from './named-some.ts';

it.each([
  [[], ''],
  [['a'], 'a'],
  [['a', 'b'], 'a, b'],
  [['a', 'b', 'c'], 'a, b and 1 more'],
  [['a', 'b', 'c', 'd'], 'a, b and 2 more'],
])('namedSome(%j, 2) names two texts and counts the rest', (texts, text) => {
  expect(namedSome(texts, 2)).toBe(text);
});

it('namedSome writes separator, conjunction and noun from the form', () => {
  const clauses = { separator: '; ', before: '; and ', noun: 'node' };
  expect(namedSome(['a', 'b', 'c'], 2, clauses)).toBe('a; b; and 1 more node');
  expect(namedSome(['a', 'b', 'c', 'd'], 2, clauses)).toBe('a; b; and 2 more nodes');
});

it('namedSomeInKorean writes the count after the names', () => {
  expect(namedSomeInKorean(['a', 'b'], 2)).toBe('a, b');
  expect(namedSomeInKorean(['a', 'b', 'c'], 2)).toBe('a, b 외 1개');
});
