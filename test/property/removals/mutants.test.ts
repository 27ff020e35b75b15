import { execFileSync } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { root } from '../../repo/tree.ts';

const folder = join(import.meta.dirname, 'mutants');
const patches = readdirSync(folder);

it('the folder has one mutant for each cause of unfounded removals', () => {
  expect(patches.toSorted()).toEqual([
    'copied-consent.patch',
    'endless-consent.patch',
    'memory.patch',
    'no-record.patch',
    'total.patch',
  ]);
});

it.each(patches)('mutant %s applies to this tree', (patch) => {
  const apply = () => execFileSync('git', ['apply', '--check', join(folder, patch)], { cwd: root });
  expect(apply).not.toThrow();
});
