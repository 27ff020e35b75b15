import * as fc from 'fast-check';
import { expect, it } from 'vitest';
import { isSameJson } from './same-json.ts';
import { canonicalJson } from './spec-hash.ts';

const word = fc.constantFrom('a', 'b', 'c', 'toString', '');
const { tree: json } = fc.letrec<{ tree: unknown }>((tie) => ({
  tree: fc.oneof(
    { maxDepth: 3, withCrossShrink: true },
    fc.constantFrom(null, true, false, 0, -0, 1, '', 'a'),
    fc.array(tie('tree'), { maxLength: 2 }),
    fc.dictionary(word, fc.oneof(tie('tree'), fc.constant(undefined)), { maxKeys: 3 }),
  ),
}));

it('isSameJson agrees with comparing canonical JSON for any two values', () => {
  const same = { count: 0 };
  fc.assert(
    fc.property(json, json, (a, b) => {
      const wanted = canonicalJson(a) === canonicalJson(b);
      if (wanted) same.count += 1;
      expect(isSameJson(a, b)).toBe(wanted);
    }),
    { numRuns: 5_000 },
  );
  expect(same.count).toBeGreaterThan(50);
});

it('isSameJson ignores key order and undefined fields', () => {
  expect(isSameJson({ a: 1, b: [{ c: 2, d: 3 }] }, { b: [{ d: 3, c: 2 }], a: 1 })).toBe(true);
  expect(isSameJson({ a: 1, b: undefined }, { a: 1 })).toBe(true);
  expect(isSameJson({ a: 1 }, { a: 1, b: undefined })).toBe(true);
  expect(isSameJson({ a: 1, b: null }, { a: 1 })).toBe(false);
  expect(isSameJson({ a: [1, 2] }, { a: [2, 1] })).toBe(false);
  expect(isSameJson({ a: [] }, { a: {} })).toBe(false);
});
