import { expect, it } from 'vitest';
import { sampleOf } from '../../rotation.ts';
import { mutantsIn, mutated, placeOf } from './operators.ts';

/** Returns `OPERATOR: CODE` for each mutant in the code. */
function mutantsOf(code: string): string[] {
  return mutantsIn('a.ts', code).map(
    (mutant) => `${mutant.operator}: ${mutated(code, mutant).trim()}`,
  );
}

it.each<[string, string[]]>([
  ['if (a) b = c;', ['negated condition: if (!(a)) b = c;']],
  ['x = a ? b : c;', ['negated condition: x = !(a) ? b : c;']],
  ['while (a) b ||= c;', ['negated condition: while (!(a)) b ||= c;']],
  ['for (; a; ) b ||= c;', ['negated condition: for (; !(a); ) b ||= c;']],
  ['if (a === b) c ||= d;', ['negated condition: if (!(a === b)) c ||= d;']],
  [
    'if (a < b) c ||= d;',
    ['negated condition: if (!(a < b)) c ||= d;', 'swapped comparison: if (a <= b) c ||= d;'],
  ],
  ['x = a >= b;', ['swapped comparison: x = a > b;']],
  ['x = (a as number) !== b;', ['swapped comparison: x = (a as number) === b;']],
  ['save(a);', ['removed call: ;']],
  ['void a?.save();', ['removed call: ;']],
  ['await save(a);', ['removed call: ;', 'dropped await: save(a);']],
  ['x = await load();', ['dropped await: x = load();']],
  ['x = 0;', ['off by one: x = 1;']],
  ['x = a.at(-1)!;', ['off by one: x = a.at(-2)!;']],
  ['x = `${1}`;', ['off by one: x = `${2}`;']],
])('mutants for %s', (code, mutants) => {
  expect(mutantsOf(code)).toEqual(mutants);
});

it.each([
  ['types', 'let a: 1 | 2; type A = B<3>; const b = f<4>() as 5; interface C { d: 6 }'],
  ['comments', '// if (a) save(1);\n/* await b < 2 */'],
  ['strings', `x = 'if (a) save(1)'; y = \`a < 2\`; z = /3 < 4/;`],
  ['calls that only log', 'log.info({ n: 1 }); this.#log.warn(a < 2); context.log.debug(`${3}`);'],
  ['texts of schemas', 'x = number.describe(`at most ${1}`);'],
  ['round thousands and keys', 'x = 60_000; y = { 1: a };'],
  ['super calls', 'class A extends B { constructor() { super(c); } }'],
])('%s have no mutants', (_, code) => {
  expect(mutantsOf(code)).toEqual([]);
});

it('mutantsIn throws for a source with syntax errors', () => {
  expect(() => mutantsIn('src/a.ts', 'if (')).toThrow('src/a.ts: ');
});

it('placeOf returns file, line, and the line before and after', () => {
  const source = "const é = 'é';\n  if (é) stop();\n";
  const [negated] = mutantsIn('src/a.ts', source);
  expect(negated && placeOf(source, negated)).toEqual([
    'src/a.ts:2',
    'if (é) stop();',
    'if (!(é)) stop();',
  ]);
});

it('sampleOf spreads a sample over all items, and takes others in the next turn', () => {
  const items = Array.from({ length: 1000 }, (_, n) => n);
  const turns = [7, 8].map((turn) => sampleOf(items, 20, turn));
  for (const sample of turns) {
    const tenths = new Set(sample.map((item) => Math.floor(item / 100)));
    expect(tenths.size).toBe(10);
  }
  expect(new Set(turns.flat()).size).toBe(40);
  expect(sampleOf(items, 1000, 7)).toEqual(items);
});
