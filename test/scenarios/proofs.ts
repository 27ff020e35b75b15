import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

export const root = join(import.meta.dirname, '..', '..');

/** A test whose title begins with ids of scenarios. */
export interface Proof {
  readonly file: string;
  readonly ids: readonly string[];
  /** Title as in the source, without the ids. */
  readonly title: string;
}

/** A string literal that begins with one or more ids: `'[RW-19] [RW-28] …'`. */
const titles = /(['"`])((?:\[RW-\d\d\] )+)((?:\\.|(?!\1).)*)\1/g;

/** Returns the proofs in the text of one test file. */
export function proofsInText(file: string, text: string): Proof[] {
  return [...text.matchAll(titles)].map(([, , ids = '', title = '']) => ({
    file,
    ids: [...ids.matchAll(/RW-\d\d/g)].map(([id]) => id),
    title: title.replaceAll(/\\(.)/g, '$1'),
  }));
}

/** Returns the proofs in all test files of this tree that match the globs. */
export function proofsIn(globs: readonly string[]): Proof[] {
  return globSync([...globs], { cwd: root })
    .toSorted()
    .flatMap((file) => proofsInText(file, readFileSync(join(root, file), 'utf8')));
}
