import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { JsonLines } from './json-elements.ts';

/** Arrays read from these pieces. */
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

test('JsonLines reads the same as JSON.parse, however the text is cut', () => {
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
])('JsonLines throws by the end of a line which is not an array of objects: case %#', (line) => {
  expect(() => read(`${line}\n`.split(''))).toThrow(SyntaxError);
});

describe('JsonLines with an object of several megabytes', () => {
  const link = '{"ifindex":9,"ifname":"kube-ipvs0",';
  const address = JSON.stringify({ family: 'inet', local: '10.96.0.1', prefixlen: 32 });
  test.each([
    ['the addresses of kube-ipvs0', `${link}"addr_info":[`, `${address},`, `${address}]}`],
    ['one long string', `${link}"ifalias":"`, 'x'.repeat(1000), '"}'],
  ])(
    'JsonLines reads 15 MB, and names the limit and the link at 17 MB: %s',
    (_, start, piece, end) => {
      const pieces = (length: number) => [
        `[${start}`,
        ...Array.from({ length: length / 100_000 }, () =>
          piece.repeat(Math.ceil(100_000 / piece.length)),
        ),
        `${end}]\n`,
      ];
      expect(read(pieces(15_000_000))).toMatchObject([[{ ifname: 'kube-ipvs0' }]]);
      expect(() => read(pieces(17_000_000))).toThrow(
        /^an object of more than 16 MB in the output of ip: .*kube-ipvs0/,
      );
    },
  );
});
