import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { planted } from '../mutate/mutant.ts';
import { mutantsOfRoom } from '../mutate/mutants.ts';
import { root, textOf } from './tree.ts';

test.each(Object.values(mutantsOfRoom).flat())(
  'a mutant of $file has its place and its tests: $find',
  (mutant) => {
    const source = textOf(mutant.file);
    expect(planted(source, mutant)).not.toBe(source);
    const [, ...files] = mutant.tests;
    expect(files.filter((file) => !existsSync(join(root, file)))).toEqual([]);
  },
);
