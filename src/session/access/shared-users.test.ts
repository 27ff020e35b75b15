import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { sharedUsers } from './shared-users.ts';

/** Text with a context per pair of cluster and user. */
function kubeconfig(...pairs: readonly (readonly [cluster: string, user: string])[]): string {
  const contexts = pairs.map(([cluster, user]) => ({ name: cluster, context: { cluster, user } }));
  const users = [...new Set(pairs.map(([, user]) => user))].map((name) => ({ name, user: {} }));
  return JSON.stringify({ contexts, users });
}

it.each([
  [
    'two files with the user admin',
    [kubeconfig(['a', 'admin']), kubeconfig(['b', 'admin'])],
    ['admin'],
  ],
  ['one merged file with two clusters', [kubeconfig(['a', 'admin'], ['b', 'admin'])], ['admin']],
  ['two files with different users', [kubeconfig(['a', 'one']), kubeconfig(['b', 'two'])], []],
  ['one file with one cluster', [kubeconfig(['a', 'admin'])], []],
  ['a file without YAML', ['{'], []],
])('sharedUsers of %s', async (_, texts, expected) => {
  const folder = await mkdtemp(join(tmpdir(), 'kubeconfigs-'));
  onTestFinished(() => rm(folder, { recursive: true }));
  const paths = texts.map((_text, at) => join(folder, String(at)));
  for (const [at, path] of paths.entries()) await writeFile(path, texts[at] ?? '');
  expect(sharedUsers([...paths, join(folder, 'absent')].join(':'))).toEqual(expected);
});
