import { link, mkdir, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { HostFolder } from '../../../test/fixtures/host-folder.ts';
import { type FileChange, type FileChanges, inOrder } from '../planning/unit.ts';
import {
  commitFiles,
  type DatedDisk,
  finishFiles,
  isCommitted,
  restoreFiles,
  settleFiles,
  stageFiles,
  syncFiles,
  syncStaged,
} from './disk.ts';

let host: HostFolder;
let disk: DatedDisk;
let directory: string;
beforeEach(async () => {
  host = await HostFolder.make('etc/netplan');
  ({ disk, path: directory } = host);
});
afterEach(() => host[Symbol.asyncDispose]());

const put = (name: string, text: string) => host.put(name, text);
const files = () => host.files();

function change(before: string | null, after: string | null, name = 'a.yaml'): FileChange {
  return { path: `/etc/netplan/${name}`, before, after, mode: 0o600, changed: true };
}

function changes(commit: FileChange, more: Partial<FileChanges> = {}): FileChanges {
  return { companions: [], commit, obsolete: [], ...more };
}

const created = changes(change(null, 'new'));
const replaced = changes(change('old', 'new'));
const removed = changes(change('old', null));
const migrated = changes(change(null, 'new'), { obsolete: [change('legacy', null, 'b.yaml')] });
const named = changes(change(null, 'new'), {
  companions: [change(null, 'name', '0.link'), change('off', 'on', '1.conf')],
});
const unnamed = changes(change('old', null), { obsolete: [change('name', null, '0.link')] });

/** Profile with new routes in a separate file, with placeholder files meanwhile. */
const apart = changes(change('old', 'new', 'profile'), {
  interim: [change(null, 'new', 'routes-next'), change(null, 'new', 'profile-next')],
  companions: [change('old', 'new', 'routes')],
  obsolete: [change('old', null, 'routes6')],
});
const oldApart = { profile: 'old', routes: 'old', routes6: 'old' };
const newApart = { profile: 'new', routes: 'new' };

async function prepare(wanted: FileChanges): Promise<void> {
  for (const { path, before } of inOrder(wanted)) {
    if (before !== null) await put(path.replace('/etc/netplan/', ''), before);
  }
}

describe.each([
  ['created', created, {}, { 'a.yaml': 'new' }],
  ['replaced', replaced, { 'a.yaml': 'old' }, { 'a.yaml': 'new' }],
  ['removed', removed, { 'a.yaml': 'old' }, {}],
  ['migrated', migrated, { 'b.yaml': 'legacy' }, { 'a.yaml': 'new' }],
  [
    'created with companions',
    named,
    { '1.conf': 'off' },
    { '0.link': 'name', '1.conf': 'on', 'a.yaml': 'new' },
  ],
  ['removed with companions', unnamed, { '0.link': 'name', 'a.yaml': 'old' }, {}],
  ['replaced with placeholders for several boot files', apart, oldApart, newApart],
] as const)('file change: %s', (_, wanted, before, after) => {
  test('[RW-03] staged files are invisible until the commit', async () => {
    await prepare(wanted);
    await stageFiles(wanted, disk);
    await syncStaged(wanted, disk);
    expect(await files()).toMatchObject(before);
    expect(Object.keys(await files()).filter((name) => !name.startsWith('.'))).toEqual(
      Object.keys(before),
    );
    expect(isCommitted(wanted, disk)).toBe(false);
  });

  test('after the commit the folder has exactly the wanted files', async () => {
    await prepare(wanted);
    await stageFiles(wanted, disk);
    await commitFiles(wanted, disk);
    expect(isCommitted(wanted, disk)).toBe(true);
    await syncFiles([wanted], disk);
    await settleFiles(wanted, disk);
    await settleFiles(wanted, disk);
    expect(await files()).toEqual(after);
  });

  test.each(['staged', 'committed'])(
    'rollback after being %s restores the original inode',
    async (step) => {
      await prepare(wanted);
      const [name] = Object.keys(before);
      const inode = async () => (await stat(join(directory, name ?? '.'))).ino;
      const was = await inode();
      // A hard link, so that no other file reuses the inode.
      if (name) await link(join(directory, name), join(disk.hostRoot, 'held'));
      await stageFiles(wanted, disk);
      if (step === 'committed') await commitFiles(wanted, disk);
      await restoreFiles(wanted, disk);
      await restoreFiles(wanted, disk);
      expect(await files()).toEqual(before);
      expect(await inode()).toBe(was);
    },
  );

  test('replaced files become backups exactly once, and only when settled', async () => {
    const backups = join(directory, 'backup');
    const kept = () => readdir(backups).catch(() => []);
    await prepare(wanted);
    await stageFiles(wanted, disk);
    await commitFiles({ ...wanted, obsolete: [] }, disk);
    expect(await kept()).toEqual([]);
    expect(await finishFiles(wanted, disk)).toEqual([]);
    await finishFiles(wanted, disk);
    const texts = (await kept()).map((name) => readFile(join(backups, name), 'utf8'));
    const gone = inOrder(wanted).flatMap(({ before: text }) => (text === null ? [] : [text]));
    expect((await Promise.all(texts)).toSorted()).toEqual(gone.toSorted());
  });

  test('restoreFiles works with nothing staged and with stale leftovers', async () => {
    await prepare(wanted);
    const name = basename(wanted.commit.path);
    await put(`.${name}.multinic-old`, 'stale');
    await put(`.${name}.multinic-new`, 'stale');
    await restoreFiles(wanted, disk);
    expect(await files()).toEqual(before);
  });

  test('finishFiles completes a change after a crash right behind the commit', async () => {
    await prepare(wanted);
    await stageFiles(wanted, disk);
    await commitFiles({ ...wanted, obsolete: [] }, disk);
    await finishFiles(wanted, disk);
    await finishFiles(wanted, disk);
    expect(await files()).toEqual(after);
  });
});

describe('managed files', () => {
  test('settleFiles reports a failed backup and removes the old file', async () => {
    await prepare(replaced);
    await writeFile(join(directory, 'backup'), 'in the way');
    await stageFiles(replaced, disk);
    await commitFiles(replaced, disk);
    expect(await settleFiles(replaced, disk)).toEqual([
      'BackupFailed /etc/netplan/a.yaml: backup is not a folder',
    ]);
    expect(await files()).toEqual({ 'a.yaml': 'new' });
  });

  test('restored files leave no backup', async () => {
    await prepare(replaced);
    await stageFiles(replaced, disk);
    await commitFiles(replaced, disk);
    await restoreFiles(replaced, disk);
    expect(await readdir(directory)).toEqual(['a.yaml']);
  });

  test('[RW-35] files are written with mode 0600', async () => {
    await stageFiles(created, disk);
    await commitFiles(created, disk);
    expect((await stat(join(directory, 'a.yaml'))).mode & 0o777).toBe(0o600);
  });

  test('companion files come before the address file and go after it', async () => {
    const seen: Record<string, string>[] = [];
    const watched = {
      ...disk,
      perform: async <T>(_: unknown, write: () => Promise<T>) => {
        const done = await write();
        seen.push(await files());
        return done;
      },
    };
    await prepare(named);
    for (const wanted of [named, unnamed]) {
      await stageFiles(wanted, watched);
      await commitFiles(wanted, watched);
      await settleFiles(wanted, watched);
      expect(isCommitted(wanted, disk)).toBe(true);
      if (wanted === named) await put('a.yaml', 'old');
    }
    const nameless = seen.filter((each) => !('0.link' in each));
    expect(seen.some((each) => 'a.yaml' in each)).toBe(true);
    expect(nameless.filter((each) => 'a.yaml' in each)).toEqual([]);
  });

  test('files get the requested mode 0644', async () => {
    const open = changes({ ...change(null, 'new'), mode: 0o644 });
    await stageFiles(open, disk);
    await commitFiles(open, disk);
    expect((await stat(join(directory, 'a.yaml'))).mode & 0o777).toBe(0o644);
  });

  test('correct files are not written', async () => {
    const same = changes({ ...change('old', 'old'), changed: false });
    await put('a.yaml', 'old');
    await stageFiles(same, disk);
    expect(await files()).toEqual({ 'a.yaml': 'old' });
    expect(isCommitted(same, disk)).toBe(true);
  });

  test('finishFiles leaves an old file alone if foreign software rewrote it', async () => {
    await put('b.yaml', 'theirs');
    await finishFiles(migrated, disk);
    expect(await files()).toEqual({ 'b.yaml': 'theirs' });
  });

  test.each<[string, FileChanges]>([
    ['was to be created', created],
    ['was to be replaced', replaced],
  ])('restoreFiles keeps a foreign file at a path where our file %s', async (_, wanted) => {
    await prepare(wanted);
    await stageFiles(wanted, disk);
    await rm(join(directory, 'a.yaml'), { force: true });
    await put('a.yaml', 'theirs');
    await restoreFiles(wanted, disk);
    expect(await files()).toEqual({ 'a.yaml': 'theirs' });
  });

  test("a directory in a file's place counts as not committed and stays", async () => {
    await mkdir(join(directory, 'a.yaml'));
    expect(isCommitted(created, disk)).toBe(false);
    await restoreFiles(created, disk);
    expect(await readdir(directory)).toEqual(['a.yaml']);
  });

  test("restoreFiles uses the journal's text if the old file is no longer held", async () => {
    await put('a.yaml', 'new');
    await restoreFiles(replaced, disk);
    expect(await files()).toEqual({ 'a.yaml': 'old' });
  });

  test('staging replaces a link in place of the staged file without following it', async () => {
    await put('victim', 'precious');
    const { symlink } = await import('node:fs/promises');
    await symlink(join(directory, 'victim'), join(directory, '.a.yaml.multinic-new'));
    await stageFiles(created, disk);
    expect(await readFile(join(directory, 'victim'), 'utf8')).toBe('precious');
  });
});
