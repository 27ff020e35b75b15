import { expect, it } from 'vitest';
import { filesBelow, textOf } from './tree.ts';

const catalogues = filesBelow('src/api/texts').filter((path) => !path.endsWith('.test.ts'));
const korean = /\p{Script=Hangul}/u;

/** Returns the files that a file imports at run time or as types. */
function importsOf(path: string): string[] {
  const folder = path.slice(0, path.lastIndexOf('/'));
  const found = textOf(path).matchAll(/\bfrom '([^']+)'|\bimport\('([^']+)'\)|^import '([^']+)'/gm);
  return [...found].map(([, from = '', dynamic = '', bare = '']) => {
    const specifier = from || dynamic || bare;
    return specifier.startsWith('.')
      ? new URL(specifier, `file:///${folder}/`).pathname.slice(1)
      : specifier;
  });
}

/** Returns the file and its imports, direct and indirect. */
function reachableFrom(path: string, known = new Set<string>()): ReadonlySet<string> {
  known.add(path);
  if (!path.endsWith('.ts')) return known;
  for (const next of importsOf(path)) if (!known.has(next)) reachableFrom(next, known);
  return known;
}

it.each([...catalogues, 'src/api/reasons.ts'])('%s loads in a browser', (path) => {
  const reached = [...reachableFrom(path)];
  expect(reached.filter((each) => !each.startsWith('src/api/') && each !== 'zod')).toEqual([]);
});

it.each(
  ['src/explain', 'src/session', 'src/cli', 'src/web']
    .flatMap(filesBelow)
    .filter((path) => /\.tsx?$/.test(path) && !path.startsWith('src/web/words/')),
)('%s takes Korean texts from a catalogue', (path) => {
  const isTest = /\.test\.tsx?$/.test(path) || path.includes('/testing/');
  expect(!isTest && korean.test(textOf(path))).toBe(false);
});
