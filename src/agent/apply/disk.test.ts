import { link, mkdir, mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { FileChange } from '../planning/unit.ts';
import {
  commitFiles,
  type Disk,
  finishFiles,
  isCommitted,
  restoreFiles,
  settleFiles,
  stageFiles,
  syncFiles,
  syncStaged,
} from './disk.ts';

let disk: Disk;
let directory: string;
beforeEach(async () => {
  const hostRoot = await mkdtemp(join(tmpdir(), 'multinic-files-'));
  directory = join(hostRoot, 'etc/netplan');
  await mkdir(directory, { recursive: true });
  disk = { hostRoot, perform: async (_, write) => write() };
});
afterEach(() => rm(disk.hostRoot, { recursive: true }));

function change(before: string | null, after: string | null, name = 'a.yaml'): FileChange {
  return { path: `/etc/netplan/${name}`, before, after, changed: true };
}

async function put(name: string, text: string): Promise<void> {
  await writeFile(join(directory, name), text, { mode: 0o644 });
}

async function files(): Promise<Record<string, string>> {
  const names = (await readdir(directory)).toSorted();
  const texts = await Promise.all(names.map((name) => readFile(join(directory, name), 'utf8')));
  return Object.fromEntries(names.map((name, at) => [name, texts[at] ?? '']));
}

const created = [change(null, 'new')] as const;
const replaced = [change('old', 'new')] as const;
const removed = [change('old', null)] as const;
const migrated = [change(null, 'new'), change('legacy', null, 'b.yaml')] as const;

async function prepare(changes: readonly FileChange[]): Promise<void> {
  for (const { path, before } of changes) {
    if (before !== null) await put(path.replace('/etc/netplan/', ''), before);
  }
}

describe.each([
  ['created', created, {}, { 'a.yaml': 'new' }],
  ['replaced', replaced, { 'a.yaml': 'old' }, { 'a.yaml': 'new' }],
  ['removed', removed, { 'a.yaml': 'old' }, {}],
  ['migrated', migrated, { 'b.yaml': 'legacy' }, { 'a.yaml': 'new' }],
] as const)('a file that is %s', (_, changes, before, after) => {
  test('is not to be seen until the commit', async () => {
    await prepare(changes);
    await stageFiles(changes, disk);
    await syncStaged(changes, disk);
    expect(await files()).toMatchObject(before);
    expect(Object.keys(await files()).filter((name) => name.endsWith('.yaml'))).toEqual(
      Object.keys(before),
    );
    expect(isCommitted(changes, disk)).toBe(false);
  });

  test('is as wanted after it, and nothing else is left', async () => {
    await prepare(changes);
    await stageFiles(changes, disk);
    await commitFiles(changes, disk);
    expect(isCommitted(changes, disk)).toBe(true);
    await syncFiles(changes, disk);
    await settleFiles(changes, disk);
    await settleFiles(changes, disk);
    expect(await files()).toEqual(after);
  });

  test.each(['staged', 'committed'])(
    'is the very file it was when it is undone after being %s',
    async (step) => {
      await prepare(changes);
      const [name] = Object.keys(before);
      const inode = async () => (await stat(join(directory, name ?? '.'))).ino;
      const was = await inode();
      // Held, so that no other file gets its inode.
      if (name) await link(join(directory, name), join(disk.hostRoot, 'held'));
      await stageFiles(changes, disk);
      if (step === 'committed') await commitFiles(changes, disk);
      await restoreFiles(changes, disk);
      await restoreFiles(changes, disk);
      expect(await files()).toEqual(before);
      expect(await inode()).toBe(was);
    },
  );

  test('can be undone with nothing staged, whatever an earlier run left', async () => {
    await prepare(changes);
    await put('.a.yaml.multinic-old', 'stale');
    await put('.a.yaml.multinic-new', 'stale');
    await restoreFiles(changes, disk);
    expect(await files()).toEqual(before);
  });

  test('can be finished after a crash right behind the commit', async () => {
    await prepare(changes);
    await stageFiles(changes, disk);
    await commitFiles([changes[0]], disk);
    await finishFiles(changes, disk);
    await finishFiles(changes, disk);
    expect(await files()).toEqual(after);
  });
});

describe('files', () => {
  test('are written for root alone', async () => {
    await stageFiles(created, disk);
    await commitFiles(created, disk);
    expect((await stat(join(directory, 'a.yaml'))).mode & 0o777).toBe(0o600);
  });

  test('that are as they shall be are not written', async () => {
    const same = [{ ...change('old', 'old'), changed: false }] as const;
    await put('a.yaml', 'old');
    await stageFiles(same, disk);
    expect(await files()).toEqual({ 'a.yaml': 'old' });
    expect(isCommitted(same, disk)).toBe(true);
  });

  test('of an older generation are left alone if somebody wrote them anew meanwhile', async () => {
    await put('b.yaml', 'theirs');
    await finishFiles(migrated, disk);
    expect(await files()).toEqual({ 'b.yaml': 'theirs' });
  });

  test.each<[string, readonly [FileChange, ...FileChange[]]]>([
    ['was to be created', created],
    ['was to be replaced', replaced],
  ])('of somebody else that took a place where one %s stay', async (_, changes) => {
    await prepare(changes);
    await stageFiles(changes, disk);
    await rm(join(directory, 'a.yaml'), { force: true });
    await put('a.yaml', 'theirs');
    await restoreFiles(changes, disk);
    expect(await files()).toEqual({ 'a.yaml': 'theirs' });
  });

  test('are not looked for in what took the place of one', async () => {
    await mkdir(join(directory, 'a.yaml'));
    expect(isCommitted(created, disk)).toBe(false);
    await restoreFiles(created, disk);
    expect(await readdir(directory)).toEqual(['a.yaml']);
  });

  test('come back from the journal when the old one is no longer held', async () => {
    await put('a.yaml', 'new');
    await restoreFiles(replaced, disk);
    expect(await files()).toEqual({ 'a.yaml': 'old' });
  });

  test('grow through no link that somebody put in their place', async () => {
    await put('victim', 'precious');
    const { symlink } = await import('node:fs/promises');
    await symlink(join(directory, 'victim'), join(directory, '.a.yaml.multinic-new'));
    await stageFiles(created, disk);
    expect(await readFile(join(directory, 'victim'), 'utf8')).toBe('precious');
  });
});
