import { existsSync } from 'node:fs';
import { mkdtemp, readFile, rm, truncate, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import type { StoredNode } from './node-configs.ts';
import { Store } from './store.ts';

const author = { namespace: 'multinic-system', name: 'osc', generation: 3 };
let directory: string;
let path: string;
let rebuilt: string[];
let store: Store;

async function open(): Promise<Store> {
  return Store.open(
    { kind: 'sqlite', path },
    { now: () => new Date(0), onRebuilt: (movedTo) => rebuilt.push(movedTo) },
  );
}

beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'multinic-store-'));
  path = join(directory, 'data', 'inventory.db');
  rebuilt = [];
  store = await open();
});

afterEach(async () => {
  await store[Symbol.asyncDispose]();
  await rm(directory, { recursive: true });
});

function node(nodeName: string): StoredNode {
  return {
    nodeName,
    instanceId: `server-${nodeName}`,
    uid: nodeName,
    generation: 1,
    interfaces: [],
  };
}

async function names(): Promise<string[]> {
  return (await store.list()).map(({ nodeName }) => nodeName);
}

it('a file is moved aside and made anew when it is no database', async () => {
  await store[Symbol.asyncDispose]();
  await writeFile(path, '{"records": []}');
  store = await open();
  expect(rebuilt).toEqual([`${path}.damaged`]);
  expect(await readFile(`${path}.damaged`, 'utf8')).toBe('{"records": []}');
  await store.record('biz-1', author, [node('n1')]);
  expect(await names()).toEqual(['n1']);
});

it('a file is moved aside and made anew when it is cut off', async () => {
  const many = Array.from({ length: 200 }, (_, n) => node(`n${n}`));
  await store.record('biz-1', author, many);
  await store[Symbol.asyncDispose]();
  await truncate(path, 20_000);
  store = await open();
  expect(rebuilt).toHaveLength(1);
  expect(await names()).toEqual([]);
});

it('a file is made anew when it is damaged while it is in use', async () => {
  await store.record('biz-1', author, [node('n1')]);
  await store[Symbol.asyncDispose]();
  store = await open();
  await writeFile(path, Buffer.alloc(40_000, 7));
  expect(await names()).toEqual([]);
  expect(rebuilt).toHaveLength(1);
  await store.record('biz-1', author, [node('n2')]);
  expect(await names()).toEqual(['n2']);
  expect(existsSync(`${path}.damaged`)).toBe(true);
});

it('two calls that meet a damaged file make it anew once', async () => {
  await store[Symbol.asyncDispose]();
  store = await open();
  await writeFile(path, Buffer.alloc(40_000, 7));
  await Promise.all([names(), names(), store.record('biz-1', author, [node('n1')])]);
  expect(rebuilt).toHaveLength(1);
  expect(await names()).toEqual(['n1']);
});

it("an error that is not about the file is the caller's", async () => {
  const unknown = { kind: 'mariadb', host: '127.0.0.1', port: 1, user: '', password: '' } as const;
  await expect(
    Store.open({ ...unknown, database: 'none' }, { now: () => new Date(0) }),
  ).rejects.toThrow();
  await expect(store.list({ limit: -1, nodeName: 'x' })).resolves.toEqual([]);
});
