import { execFile } from 'node:child_process';
import { copyFile, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { commitOf, versionOf } from './identity.ts';

let folder: string;
const root = join(import.meta.dirname, '..');
const run = promisify(execFile);
const git = (...words: string[]) =>
  run('git', ['-c', 'user.name=a', '-c', 'user.email=a@b', ...words], { cwd: folder });
const makeCommit = () => git('commit', '-q', '--allow-empty', '-m', 'change');
/** Returns HEAD as in a version. */
const head = async () => `g${(await git('rev-parse', 'HEAD')).stdout.slice(0, 8)}`;

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

describe('versionOf', () => {
  /** Commits `src/a`, VERSION and .gitattributes. */
  beforeEach(async () => {
    await git('init', '-q');
    await mkdir(join(folder, 'src'));
    await writeFile(join(folder, 'src/a'), 'one');
    for (const name of ['VERSION', '.gitattributes']) {
      await copyFile(join(root, name), join(folder, name));
    }
    await git('add', '.');
    await makeCommit();
  });

  it.each([
    [[], 0, '0.2.0-dev.1.HEAD'],
    [[], 3, '0.2.0-dev.4.HEAD'],
    [['v1.2.3'], 0, '1.2.3'],
    [['v1.2.3'], 5, '1.3.0-dev.5.HEAD'],
    [['v0.9.0', 'v0.10.0-rc.1', 'v0.10.0'], 0, '0.10.0'],
    [['v0.9.0', 'v0.10.0'], 2, '0.11.0-dev.2.HEAD'],
    [['v1.3.0-rc.1'], 0, '1.3.0-rc.1'],
    [['v1.3.0-rc.1'], 2, '1.3.0-rc.1.dev.2.HEAD'],
    [['v1', 'v01.2.3', 'v1.2.3+build', 'v1.2', 'v2.0.0-rc-', 'nightly'], 0, '0.2.0-dev.1.HEAD'],
    [['v1', 'v1.2.3'], 0, '1.2.3'],
    [['v9', 'v1.2.3'], 1, '1.3.0-dev.1.HEAD'],
  ] as const)('tags %j and %i later commits give %s', async (tags, later, version) => {
    for (const tag of tags) await git('tag', tag);
    for (let count = 0; count < later; count += 1) await makeCommit();
    expect(await versionOf(folder)).toBe(version.replace('HEAD', await head()));
  });

  it('changed files give a version of their own, also on a tag, and equal changes the same', async () => {
    await git('tag', 'v1.2.3');
    const dirty = new RegExp(`^1\\.3\\.0-dev\\.0\\.${await head()}\\.dirty-[0-9a-f]{8}$`);
    await writeFile(join(folder, 'untracked'), 'a note');
    expect(await versionOf(folder)).toBe('1.2.3');
    const versions: string[] = [];
    for (const [path, text] of [
      ['src/a', 'two'],
      ['src/a', 'three'],
      // The changed file may import a new file.
      ['src/b', 'one'],
      ['src/b', 'two'],
    ] as const) {
      await writeFile(join(folder, path), text);
      versions.push(await versionOf(folder));
      expect(versions.at(-1)).toMatch(dirty);
      expect(await versionOf(folder)).toBe(versions.at(-1));
    }
    expect(new Set(versions).size).toBe(versions.length);
    await writeFile(join(folder, 'src/a'), 'one');
    expect(await versionOf(folder)).toBe('1.2.3');
  });

  it('a damaged index gives no version, although HEAD has a tag', async () => {
    await git('tag', 'v1.2.3');
    await writeFile(join(folder, '.git/index'), 'damaged');
    await expect(versionOf(folder)).rejects.toThrow('git cannot compare the files of');
  });

  it('a damaged tag gives no version, although HEAD has another tag', async () => {
    await git('tag', 'v1.2.3');
    await writeFile(join(folder, '.git/refs/tags/v1.2.4'), `${'1'.repeat(40)}\n`);
    await expect(versionOf(folder)).rejects.toThrow('git cannot list the tags of');
  });

  it('the highest tag gives the version when git prints columns', async () => {
    await git('config', 'column.ui', 'always');
    for (const tag of ['v1.2.3', 'v1.2.4']) await git('tag', tag);
    expect(await versionOf(folder)).toBe('1.2.4');
  });

  it('a release refuses a tag on HEAD that is no version', async () => {
    await git('tag', 'v1.2');
    await expect(versionOf(folder, { isRelease: true })).rejects.toThrow(
      'the tag v1.2 of HEAD is no version\nNext: use a tag such as v1.2.3',
    );
    await git('tag', 'v1.2.0');
    expect(await versionOf(folder, { isRelease: true })).toBe('1.2.0');
  });

  it('a shallow clone has no commit count, and a release requires the history', async () => {
    await git('tag', 'v1.2.3');
    await makeCommit();
    const name = await head();
    const clone = join(folder, 'clone');
    await git('clone', '-q', '--depth', '1', `file://${folder}`, clone);
    expect(await versionOf(clone)).toBe(`0.0.0-dev.${name}`);
    const release = () => versionOf(clone, { isRelease: true });
    await expect(release()).rejects.toThrow('Next: run: git fetch --unshallow --tags');
    await run('git', ['fetch', '-q', '--unshallow', '--tags'], { cwd: clone });
    expect(await release()).toBe(`1.3.0-dev.1.${name}`);
  });

  it.each([
    [['v1.2.3'], 0, '1.2.3'],
    [['v1.2.3', 'v1'], 0, '1.2.3'],
    [['v1.2.3'], 2, '1.3.0-dev.2.HEAD'],
    [['v1.3.0-rc.1'], 1, '1.3.0-rc.1.dev.1.HEAD'],
    [[], 1, '0.0.0-dev.HEAD'],
  ] as const)(
    'an archive of git with tags %j and %i later commits is %s',
    async (tags, later, version) => {
      for (const tag of tags) await git('tag', tag);
      for (let count = 0; count < later; count += 1) await makeCommit();
      const archive = join(folder, 'archive');
      await mkdir(archive);
      await git('archive', '--format=tar', '--output=a.tar', 'HEAD');
      await run('tar', ['-xf', join(folder, 'a.tar'), '-C', archive]);
      expect(await versionOf(archive)).toBe(version.replace('HEAD', await head()));
    },
  );

  it.each([
    [undefined, 'has no file VERSION and is no git repository'],
    ['$Format:%(describe) %H$\n', 'the file VERSION in .* has no version'],
    ['1.2\n', 'the file VERSION in .* has no version'],
    [`1.2.3-${'a'.repeat(50)}`, 'the file VERSION in .* has no version'],
  ])('a folder without git whose VERSION is %j has no version', async (text, message) => {
    const copy = join(folder, 'copy');
    await mkdir(copy);
    if (text !== undefined) await writeFile(join(copy, 'VERSION'), text);
    await expect(versionOf(copy)).rejects.toThrow(new RegExp(message));
    await writeFile(join(copy, 'VERSION'), '1.2.3\n');
    expect(await versionOf(copy)).toBe('1.2.3');
  });
});
