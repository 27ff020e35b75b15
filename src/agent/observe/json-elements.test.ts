import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { JsonLines } from './json-elements.ts';

/** The arrays that are read of these pieces. */
function read(pieces: readonly string[]): unknown[][] {
  const arrays: unknown[][] = [];
  let elements: unknown[] = [];
  const lines = new JsonLines(
    (text) => elements.push(JSON.parse(text)),
    () => {
      arrays.push(elements);
      elements = [];
    },
  );
  for (const piece of pieces) lines.push(piece);
  return arrays;
}

test('JsonLines reads what JSON.parse reads, however the text is cut', () => {
  fc.assert(
    fc.property(
      fc.array(fc.array(fc.dictionary(fc.string(), fc.jsonValue()))),
      fc.integer({ min: 1, max: 40 }),
      (arrays, length) => {
        const text = arrays.map((array) => `${JSON.stringify(array)}\n\n`).join('');
        const pieces = text.match(new RegExp(`[^]{1,${length}}`, 'g')) ?? [];
        expect(read(pieces)).toEqual(JSON.parse(JSON.stringify(arrays)));
      },
    ),
  );
});

test.each([
  '{}',
  '[',
  '[{}',
  '[{},',
  '[{}{}]',
  '[1]',
  '[{}] x',
  '[{}, 1]',
  '["{}"]',
  '[{"a',
  '[]]',
  '[{"a":\n1}]',
  '[}',
])(
  'JsonLines refuses a line that is no array of objects, at the latest at its end: case %#',
  (line) => {
    expect(() => read(`${line}\n`.split(''))).toThrow(SyntaxError);
  },
);

test('JsonLines gives up on an object that does not end', () => {
  const piece = 'x'.repeat(400_000);
  expect(() => read(['[{"a":"', piece, piece])).not.toThrow();
  expect(() => read(['[{"a":"', piece, piece, piece])).toThrow(SyntaxError);
});
