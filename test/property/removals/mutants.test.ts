import { execFileSync } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { basename, join } from 'node:path';
import { expect, it } from 'vitest';
import { root } from '../../repo/tree.ts';

const folders = ['removals', 'owners'].map((name) =>
  join(import.meta.dirname, '..', name, 'mutants'),
);
const patches = folders.flatMap((folder) => readdirSync(folder).map((file) => join(folder, file)));

it('each cause of unfounded removals has one mutant', () => {
  expect(patches.map((path) => basename(path)).toSorted()).toEqual([
    'cloud-ignored.patch',
    'cluster-uid-ignored.patch',
    'copied-consent.patch',
    'endless-consent.patch',
    'memory.patch',
    'no-record.patch',
    'owner-by-name.patch',
    'port-by-id-only.patch',
    'rename-as-deletion.patch',
    'total.patch',
  ]);
});

it.each(patches)('mutant %s applies to this tree', (patch) => {
  const apply = () => execFileSync('git', ['apply', '--check', patch], { cwd: root });
  expect(apply).not.toThrow();
});
