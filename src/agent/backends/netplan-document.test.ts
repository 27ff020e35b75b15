import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { readBlockYaml } from './netplan-document.ts';

const accepted = (text: string): { value: unknown } | undefined => {
  try {
    return { value: readBlockYaml(text) };
  } catch {
    return undefined;
  }
};

describe('readBlockYaml', () => {
  test.each([
    'a: 1\n  b: 2\n',
    'a:\n',
    '- 1\nb: 2\n',
    'a: "x\n',
    'a: &x 1\n',
    'a: [1]\n',
    'a: |\n  x\n',
    'x\n',
    'a: 1\na: 2\n',
    'a: null\n',
    'a: Yes\n',
    'on: 1\n',
    '1e3: 1\n',
    'a: 017\n',
    'a: 1 # one\n',
    'a:\n\tb: 1\n',
    'a:\n\u00a0\u00a0b: 1\n',
  ])('readBlockYaml refuses unsupported YAML: %j', (text) => {
    expect(() => readBlockYaml(text)).toThrow();
  });

  test('readBlockYaml refuses a key longer than YAML parsers accept', () => {
    expect(() => readBlockYaml(`${'a'.repeat(1_025)}: 1\n`)).toThrow('not a mapping');
  });

  const pieces = fc.constantFrom(
    ...`multinic1 00-multinic1 x 12 -3 "a" [] true False no Null ~ .inf inf nan
      017 0x1f 1e3 1_0 12:30 a.b -x &x *x #x 'x' {} | > --- << =`.split(/\s+/),
    '# x',
    '- x',
    '',
  );
  const spaces = fc.constantFrom(0, 1, 2, 4).map((count) => ' '.repeat(count));
  const indents = fc.oneof(
    { weight: 9, arbitrary: spaces },
    { weight: 1, arbitrary: fc.constantFrom('\t', '\u00a0', '\u3000\u3000') },
  );
  const lines = fc.tuple(indents, fc.boolean(), pieces, fc.boolean(), pieces);
  const texts = fc
    .array(lines, { minLength: 1, maxLength: 6 })
    .map((all) =>
      all.map(([indent, item, key, keyed, value]) =>
        [indent, item ? '- ' : '', key, keyed ? `: ${value}`.trimEnd() : '', '\n'].join(''),
      ),
    )
    .map((all) => all.join(''));

  test('readBlockYaml reads accepted text like a YAML parser in versions 1.1 and 1.2', () => {
    let count = 0;
    fc.assert(
      fc.property(texts, (text) => {
        const read = accepted(text);
        if (!read) return;
        count += 1;
        for (const version of ['1.1', '1.2'] as const) {
          expect(parse(text, { version })).toEqual(read.value);
        }
      }),
      { numRuns: 20_000 },
    );
    expect(count).toBeGreaterThan(50);
  });
});
