import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { filesBelow, root, textOf } from '../repo/tree.ts';
import { suites } from './suites.ts';

const texts = ['README.md', 'CONTRIBUTING.md', ...filesBelow('docs'), ...filesBelow('test')];

it('texts name suites from the long runner', () => {
  const named = texts
    .filter((path) => path.endsWith('.md'))
    .flatMap((path) => [...textOf(path).matchAll(/SUITE=([a-z-]+)/g)].map(([, name]) => name));
  expect(named.length).toBeGreaterThan(0);
  const names: readonly (string | undefined)[] = suites.map(({ name }) => name);
  expect(named.filter((name) => !names.includes(name))).toEqual([]);
});

it.each(suites)('suite $name runs existing files', ({ command, sample }) => {
  const paths = `${command} ${sample}`.match(/\b(?:test|rig)\/[\w./-]+/g) ?? [];
  expect(paths.filter((path) => !existsSync(join(root, path)))).toEqual([]);
});
