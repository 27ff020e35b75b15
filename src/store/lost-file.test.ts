import { pbkdf2 } from 'node:crypto';
import { copyFile, mkdtemp, rename, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { Store } from './store.ts';

const author = { namespace: 'multinic-system', name: 'demo', generation: 1 };

let folder: string;
let path: string;
let now: number;
let replaced: string[];
let store: Store;

async function open(at: string): Promise<Store> {
  return Store.open(
    { kind: 'sqlite', path: at },
    { now: () => new Date(now), onReplaced: (lost) => replaced.push(lost) },
  );
}

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'lost-file-'));
  path = join(folder, 'inventory.db');
  now = Date.parse('2026-01-01T00:00:00Z');
  replaced = [];
  store = await open(path);
  await record(store, 'n1');
});

afterEach(async () => {
  await store[Symbol.asyncDispose]();
  await rm(folder, { recursive: true });
});

async function record(to: Store, ...nodeNames: string[]): Promise<void> {
  const nodes = nodeNames.map((nodeName) => ({
    nodeName,
    instanceId: `server-${nodeName}`,
    uid: nodeName,
    generation: 1,
    interfaces: [],
  }));
  await to.record('biz-1', author, nodes);
}

async function names(of: Store): Promise<string[]> {
  return (await of.list()).map(({ nodeName }) => nodeName);
}

it('[W16] the store recreates a removed SQLite file and keeps later records', async () => {
  for (const suffix of ['', '-wal', '-shm']) await rm(path + suffix, { force: true });
  now += 20_000;
  await record(store, 'n1', 'n2');
  expect(replaced).toEqual([path]);
  await store[Symbol.asyncDispose]();
  store = await open(path);
  expect(await names(store)).toEqual(['n1', 'n2']);
});

it('[W16] the store reads a SQLite file that replaced the open one', async () => {
  const other = await open(join(folder, 'other.db'));
  await record(other, 'n7');
  await other[Symbol.asyncDispose]();
  await copyFile(join(folder, 'other.db'), join(folder, 'copy.db'));
  await rename(join(folder, 'copy.db'), path);
  now += 20_000;
  expect(await names(store)).toEqual(['n7']);
  await record(store, 'n7', 'n8');
  expect(await names(store)).toEqual(['n7', 'n8']);
  expect(replaced).toEqual([path]);
});

it('[W16] the store keeps rows from the log when a file is restored with its log', async () => {
  const other = await open(join(folder, 'other.db'));
  await record(other, 'n7');
  // The file is copied while open, hence its last rows are only in the log.
  for (const suffix of ['', '-wal'])
    await copyFile(join(folder, `other.db${suffix}`), join(folder, `copy.db${suffix}`));
  await other[Symbol.asyncDispose]();
  await rm(`${path}-shm`);
  for (const suffix of ['', '-wal']) await rename(join(folder, `copy.db${suffix}`), path + suffix);
  now += 20_000;
  expect(await names(store)).toEqual(['n7']);
});

it('[W16] concurrent calls reopen a lost file once', async () => {
  await rm(path);
  now += 20_000;
  await Promise.all([names(store), names(store), record(store, 'n3'), names(store)]);
  expect(replaced).toEqual([path]);
  expect(await names(store)).toEqual(['n3']);
});

it('[W16] records written during the path check are kept', async () => {
  await rm(path);
  now += 20_000;
  // The path check waits for a thread-pool thread; a SQLite write does not.
  const busy = Array.from({ length: 8 }, () => promisify(pbkdf2)('', '', 200_000, 32, 'sha512'));
  await Promise.all([names(store), record(store, 'n3')]);
  await Promise.all(busy);
  expect(await names(store)).toEqual(['n3']);
});

it('[W16] the store opens an unchanged file only once', async () => {
  for (let n = 0; n < 5; n++) {
    now += 20_000;
    await record(store, 'n1', `n${n}`);
  }
  expect(replaced).toEqual([]);
});
