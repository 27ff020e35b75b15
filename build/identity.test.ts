import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { commitOf } from './identity.ts';

let folder: string;
const git = (...words: string[]) =>
  promisify(execFile)('git', ['-c', 'user.name=a', '-c', 'user.email=a@b', ...words], {
    cwd: folder,
  });

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'multinic-commit-'));
});

afterEach(() => rm(folder, { recursive: true }));

it('the build identity is the commit, independent of tags, with -dirty after changes', async () => {
  await git('init', '-q');
  await writeFile(join(folder, 'a'), 'one');
  await git('add', 'a');
  await git('commit', '-qm', 'one');
  await git('tag', '-am', 'v1', 'v1');
  const commit = (await git('rev-parse', 'HEAD')).stdout.trim();
  expect(await commitOf(folder)).toBe(commit);
  await writeFile(join(folder, 'a'), 'two');
  expect(await commitOf(folder)).toBe(`${commit}-dirty`);
});

it('the build identity is unknown outside a repository, and for an archive unpacked inside a foreign repository', async () => {
  expect(await commitOf(folder)).toBe('unknown');
  await git('init', '-q');
  await git('commit', '-q', '--allow-empty', '-m', 'theirs');
  const archive = join(folder, 'vendor/multinic');
  await mkdir(archive, { recursive: true });
  expect(await commitOf(archive)).toBe('unknown');
});
