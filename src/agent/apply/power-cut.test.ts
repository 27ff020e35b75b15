import fs, { readFileSync } from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import { basename } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { HostFolder } from '../../../test/fixtures/host-folder.ts';
import type { FileChange, FileChanges } from '../planning/unit.ts';
import { commitFiles, finishFiles, restoreFiles, settleFiles, stageFiles } from './disk.ts';

type Files = Readonly<Record<string, string>>;

let host: HostFolder;
beforeEach(async () => {
  host = await HostFolder.make('etc/scripts');
});
afterEach(() => host[Symbol.asyncDispose]());

function change(before: string | null, after: string | null, name: string): FileChange {
  return { path: `/etc/scripts/${name}`, before, after, mode: 0o600, changed: true };
}

/** Profile and routes, with placeholder files. */
const standIns = {
  changes: {
    interim: [change(null, 'new', 'routes-next'), change(null, 'new', 'profile-next')],
    companions: [change('old', 'new', 'routes')],
    commit: change('old', 'new', 'profile'),
    obsolete: [change('old', null, 'routes6')],
  },
  old: { profile: 'old', routes: 'old', routes6: 'old' },
  isWhole(files: Files): boolean {
    const suffix = 'profile-next' in files ? '-next' : '';
    const texts = ['profile', 'routes', 'routes6'].map((name) => files[name + suffix]).join();
    return texts === 'old,old,old' || texts === 'new,new,';
  },
};

/** File replacing a file with another name. */
const moved = {
  changes: {
    companions: [],
    commit: change(null, 'new', 'second'),
    obsolete: [change('old', null, 'first')],
  },
  old: { first: 'old' },
  isWhole: (files: Files): boolean => 'first' in files || 'second' in files,
};

interface Case {
  readonly changes: FileChanges;
  readonly old: Files;
  readonly isWhole: (files: Files) => boolean;
}

/** Name changes in the folder since its last sync; a power cut keeps any subset. */
class Names {
  readonly broken: Files[] = [];
  #lasting: Files;
  #pending: (readonly [name: string, text: string | undefined])[] = [];
  readonly #isWhole: (files: Files) => boolean;

  constructor({ old, isWhole }: Case) {
    this.#lasting = old;
    this.#isWhole = isWhole;
  }

  get pending(): number {
    return this.#pending.length;
  }

  set(name: string, text: string | undefined): void {
    if (name.startsWith('.')) return;
    this.#pending.push([name, text]);
    this.broken.push(...this.#afterCuts().filter((files) => !this.#isWhole(files)));
  }

  sync(): void {
    this.#lasting = applied(this.#lasting, this.#pending);
    this.#pending = [];
  }

  #afterCuts(): Files[] {
    return Array.from({ length: 2 ** this.#pending.length }, (_, kept) =>
      applied(
        this.#lasting,
        this.#pending.filter((_each, at) => (kept & (2 ** at)) !== 0),
      ),
    );
  }
}

function applied(files: Files, changes: readonly (readonly [string, string | undefined])[]): Files {
  const all = new Map<string, string | undefined>([...Object.entries(files), ...changes]);
  return Object.fromEntries(
    [...all].flatMap(([name, text]) => (text === undefined ? [] : [[name, text]])),
  );
}

/** Returns names and folder contents possible after a power cut at any moment. */
async function watched(each: Case, act: () => Promise<unknown>): Promise<Names> {
  const names = new Names(each);
  const { fsync, renameSync, unlinkSync } = fs;
  const patched = {
    fsync: ((descriptor: number, done: (error: null) => void) => {
      if (fs.readlinkSync(`/proc/self/fd/${descriptor}`) === host.path) names.sync();
      done(null);
    }) as typeof fs.fsync,
    renameSync: (from: string, to: string) => {
      const text = readFileSync(from, 'utf8');
      renameSync(from, to);
      names.set(basename(from), undefined);
      names.set(basename(to), text);
    },
    unlinkSync: (path: string) => {
      unlinkSync(path);
      names.set(basename(path), undefined);
    },
  };
  Object.assign(fs, patched);
  syncBuiltinESMExports();
  try {
    await act();
    return names;
  } finally {
    Object.assign(fs, { fsync, renameSync, unlinkSync });
    syncBuiltinESMExports();
  }
}

describe.each([
  ['with placeholders', standIns],
  ['with a changed name', moved],
])('file names %s, where a power cut keeps any unsynced subset', (_, each) => {
  const { changes } = each;
  beforeEach(async () => {
    for (const [name, text] of Object.entries(each.old)) await host.put(name, text);
    await stageFiles(changes, host.disk);
  });

  test('files are all old or all new at any moment during a change', async () => {
    const names = await watched(each, async () => {
      await commitFiles(changes, host.disk);
      await settleFiles(changes, host.disk);
    });
    expect(names.broken).toEqual([]);
  });

  test('files are all old or all new while finishing an interrupted change, and durable afterwards', async () => {
    const names = await watched(each, async () => {
      await commitFiles(changes, host.disk);
      await finishFiles(changes, host.disk);
    });
    expect(names.broken).toEqual([]);
    expect(names.pending).toBe(0);
  });

  test('files are all old or all new during a rollback, and durable afterwards', async () => {
    const names = await watched(each, async () => {
      await commitFiles(changes, host.disk);
      await restoreFiles(changes, host.disk);
    });
    expect(names.broken).toEqual([]);
    expect(names.pending).toBe(0);
  });
});

test('finishFiles uses the staged inode: no space is needed', async () => {
  for (const [name, text] of Object.entries(standIns.old)) await host.put(name, text);
  await stageFiles(standIns.changes, host.disk);
  // A second name, so that no other file reuses the inode.
  fs.linkSync(`${host.path}/.profile.multinic-new`, `${host.path}/.held`);
  await host.put('routes-next', 'new');
  await host.put('profile-next', 'new');
  await finishFiles(standIns.changes, host.disk);
  const [held, profile] = ['.held', 'profile'].map((name) => fs.statSync(`${host.path}/${name}`));
  expect(profile?.ino).toBe(held?.ino);
});
