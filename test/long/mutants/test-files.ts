import { globSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { parseSync } from 'vite';
import { globsOf } from '../../scenarios/ci.ts';
import { root } from '../../scenarios/proofs.ts';

/** Maximum number of test files for a survivor, nearest first: nearly every test loads files such as `src/api/condition.ts`. */
const most = 60;

/** Returns a module's runtime imports as relative paths, without type imports. */
function importsOf(path: string, source: string): string[] {
  const { staticImports, staticExports, dynamicImports } = parseSync(path, source).module;
  const specifiers = [
    ...staticImports
      .filter(({ entries }) => entries.length === 0 || entries.some(({ isType }) => !isType))
      .map(({ moduleRequest }) => moduleRequest.value),
    ...staticExports.flatMap(({ entries }) =>
      entries.flatMap(({ isType, moduleRequest }) =>
        isType || !moduleRequest ? [] : [moduleRequest.value],
      ),
    ),
    ...dynamicImports.map(({ moduleRequest: { start, end } }) => source.slice(start + 1, end - 1)),
  ];
  const relative = specifiers.filter((specifier) => specifier.startsWith('.'));
  return relative.map((specifier) => join(dirname(path), specifier));
}

/** Unit tests for each source file, from the import graph. */
export class TestFiles {
  readonly #importers = new Map<string, string[]>();
  readonly #tests = new Set(globSync(globsOf('unit'), { cwd: root }));

  constructor() {
    for (const path of globSync('{src,rig,build,test}/**/*.ts', { cwd: root }).toSorted()) {
      for (const imported of importsOf(path, readFileSync(join(root, path), 'utf8'))) {
        this.#importers.set(imported, [...(this.#importers.get(imported) ?? []), path]);
      }
    }
  }

  /** Returns test files that load `file`: direct importers first, then the rest, nearest first. */
  of(file: string): readonly (readonly string[])[] {
    const known = new Set([file]);
    const rings: string[][] = [];
    for (let ring = [file]; ring.length > 0; ) {
      ring = ring
        .flatMap((path) => this.#importers.get(path) ?? [])
        .filter((path) => {
          const isNew = !known.has(path);
          known.add(path);
          return isNew;
        });
      rings.push(ring.filter((path) => this.#tests.has(path)));
    }
    const [direct = [], ...others] = rings;
    return [direct, others.flat().slice(0, most)].filter((files) => files.length > 0);
  }
}
