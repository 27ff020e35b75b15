import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, readFile, rename, rm, rmdir, truncate, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { Worker } from 'node:worker_threads';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { inventoryTables } from '../api/inventory-tables.ts';
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

it('a database file without SQLite content is moved aside and recreated', async () => {
  await store[Symbol.asyncDispose]();
  await writeFile(path, '{"records": []}');
  store = await open();
  expect(rebuilt).toEqual([`${path}.damaged`]);
  expect(await readFile(`${path}.damaged`, 'utf8')).toBe('{"records": []}');
  await store.record('biz-1', author, [node('n1')]);
  expect(await names()).toEqual(['n1']);
});

it('a truncated SQLite file is moved aside and recreated', async () => {
  const many = Array.from({ length: 200 }, (_, n) => node(`n${n}`));
  await store.record('biz-1', author, many);
  await store[Symbol.asyncDispose]();
  await truncate(path, 20_000);
  store = await open();
  expect(rebuilt).toHaveLength(1);
  expect(await names()).toEqual([]);
});

it('a SQLite file damaged during use is recreated', async () => {
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

it('concurrent calls recreate a damaged SQLite file only once', async () => {
  await store[Symbol.asyncDispose]();
  store = await open();
  await writeFile(path, Buffer.alloc(40_000, 7));
  await Promise.all([names(), names(), store.record('biz-1', author, [node('n1')])]);
  expect(rebuilt).toHaveLength(1);
  expect(await names()).toEqual(['n1']);
});

it('opening the store succeeds while MariaDB is down, and each call fails and reconnects', async () => {
  const access = { kind: 'mariadb', host: '127.0.0.1', port: 1, user: '', password: '' } as const;
  const unreachable = await Store.open({ ...access, database: 'none' }, { now: () => new Date(0) });
  for (let call = 0; call < 2; call++) {
    await expect(unreachable.list()).rejects.toThrow('ECONNREFUSED');
  }
  await unreachable[Symbol.asyncDispose]();
});

it('store errors unrelated to the SQLite file reach the caller without a rebuild', async () => {
  await expect(store.list({ limit: -1, nodeName: 'x' })).resolves.toEqual([]);
  await expect(
    store.record('biz-1', author, [{ ...node('n1'), nodeName: null as unknown as string }]),
  ).rejects.toThrow('NOT NULL');
  expect(rebuilt).toEqual([]);
});

it('objectsOf returns recorded objects by OpenstackConfig and business cluster', async () => {
  await store.record('biz-1', author, [node('n1')]);
  await store.record('biz-2', author, [node('n2')]);
  const { uid, generation } = node('n1');
  expect(await store.objectsOf('biz-1', author)).toEqual([{ nodeName: 'n1', uid, generation }]);
  expect(await store.objectsOf('biz-1', { ...author, name: 'other' })).toEqual([]);
});

it('the migration fills table server_nics from existing node records', async () => {
  const entry = { id: 2, name: 'multinic2', portId: 'p2', macAddress: 'fa:16:3e:00:00:02' };
  await store.record('biz-1', author, [{ ...node('n1'), interfaces: [entry] }]);
  await store[Symbol.asyncDispose]();
  change("drop table server_nics; delete from migrations where name > '0003'");
  store = await open();
  expect(await store.nicsOf(['server-n1'])).toEqual([
    { instanceId: 'server-n1', interfaces: [entry] },
  ]);
});

it.each(['not begun', 'begun and killed'])(
  'tables from before the legacy-table migration are upgraded when the migration was %s',
  async (how) => {
    const nics = [0, 1].map((id) => ({
      id,
      portId: `p${id}`,
      macAddress: `fa:16:3e:00:00:0${id}`,
    }));
    await store.record('biz-1', author, [{ ...node('n1'), interfaces: nics }]);
    await store[Symbol.asyncDispose]();
    change("delete from migrations where name > '0004'");
    change('drop table multi_interface; drop table cr_state');
    change('alter table node_config drop column interface_count');
    if (how === 'not begun') {
      change('drop table multi_subnet; drop table node_table');
      change('alter table node_config drop column seen_hash');
    } else change("update node_config set seen_hash = ''");
    store = await open();
    const before = await store.list();
    expect(await store.providers()).toMatchObject([{ nodes: [{ interfaceCount: 2 }] }]);
    await store.record('biz-1', author, [{ ...node('n1'), interfaces: nics }]);
    expect((await store.notesOf(before)).of('biz-1', 'p1')).toEqual({
      createdAt: '1970-01-01T00:00:00.000Z',
    });
    expect(await store.list()).toEqual(before);
    expect(rebuilt).toEqual([]);
  },
);

it.each(['not begun', 'killed before its record'])(
  'a change log of migration 0004 gets column basis when migration 0005 was %s',
  async (how) => {
    const entry = { id: 0, portId: 'p0', macAddress: 'fa:16:3e:00:00:00' };
    await store.record('biz-1', author, [{ ...node('n1'), interfaces: [entry] }]);
    await store.record('biz-1', author, []);
    await store[Symbol.asyncDispose]();
    change("delete from migrations where name = '0005-removal-basis'");
    if (how === 'not begun') change('alter table change_log drop column basis');
    store = await open();
    const basesOf = async () => {
      const changes = await store.changes({ limit: 2 });
      return changes.map(({ change: { change: kind, basis } }) => [kind, basis]);
    };
    expect(await basesOf()).toEqual([
      ['removed', undefined],
      ['added', undefined],
    ]);
    // An earlier release inserts rows without the column, and a later release has further bases.
    const columns =
      'at, provider_id, node_name, instance_id, change, name, port_id, mac_address, before_entry, after_entry, cr_namespace, cr_name, cr_generation';
    change(
      `insert into change_log (${columns}) select ${columns} from change_log where change = 'removed'`,
    );
    change(
      `insert into change_log (${columns}, basis) select ${columns}, 'later' from change_log limit 1`,
    );
    expect(await basesOf()).toEqual([
      ['added', undefined],
      ['removed', undefined],
    ]);
    expect(rebuilt).toEqual([]);
  },
);

it('the migrations create exactly the listed inventory tables', async () => {
  await store.list();
  const db = new DatabaseSync(path);
  const namesIn = (query: string) =>
    db
      .prepare(query)
      .all()
      .map(({ name }) => String(name));
  const tables = namesIn("select name from sqlite_master where type = 'table'");
  const own = tables.filter((name) => !/^(sqlite_|migrations)/.test(name));
  expect(own.toSorted()).toEqual(Object.values(inventoryTables).flat().toSorted());
  const applied = namesIn('select name from migrations');
  expect(applied).toEqual(expect.arrayContaining(Object.keys(inventoryTables)));
  db.close();
});

it('a foreign table with a legacy table name is reported and left unchanged', async () => {
  await store[Symbol.asyncDispose]();
  change("drop table node_table; delete from migrations where name > '0004'");
  change("create table node_table (id integer, name text); insert into node_table values (1, 'x')");
  store = await open();
  await expect(names()).rejects.toThrow(
    'table node_table belongs to neither MultiNIC nor the legacy operator, as it lacks attached_node_id, attached_node_name, status, created_at, modified_at, deleted_at: rename it, or give',
  );
  change('alter table node_table rename to theirs');
  expect(await names()).toEqual([]);
});

it('migrate accepts tables from a killed, unrecorded migration', async () => {
  await store.record('biz-1', author, [node('n1')]);
  await store[Symbol.asyncDispose]();
  change('delete from migrations');
  store = await open();
  expect(await names()).toEqual(['n1']);
});

it.each(['cannot be opened', 'has migrations of another product'])(
  'opening the store succeeds when the SQLite file %s, and each call fails and reopens it',
  async (what) => {
    await store.record('biz-1', author, [node('n1')]);
    await store[Symbol.asyncDispose]();
    const isForeign = what === 'has migrations of another product';
    const migration = "into migrations values ('0000-other', '2030-01-01T00:00:00Z')";
    if (isForeign) change(`insert ${migration}`);
    else {
      await rename(path, `${path}.elsewhere`);
      await mkdir(path);
    }
    store = await open();
    for (let call = 0; call < 2; call++) await expect(names()).rejects.toThrow();
    if (isForeign) change("delete from migrations where name = '0000-other'");
    else {
      await rmdir(path);
      await rename(`${path}.elsewhere`, path);
    }
    expect(await names()).toEqual(['n1']);
    expect(rebuilt).toEqual([]);
  },
);

function change(sql: string): void {
  const db = new DatabaseSync(path);
  db.exec(sql);
  db.close();
}

it('[W7] the store reads and writes a database with a later, additive migration', async () => {
  await store.record('biz-1', author, [node('n1')]);
  await store[Symbol.asyncDispose]();
  const db = new DatabaseSync(path);
  db.exec("insert into migrations (name, timestamp) values ('9998-more', '2027-01-01T00:00:00Z')");
  db.exec("insert into migrations (name, timestamp) values ('9999-most', '2027-01-02T00:00:00Z')");
  db.exec('alter table node_config add column note text');
  db.close();
  store = await open();
  await store.record('biz-1', author, [node('n1'), node('n2')]);
  expect(await names()).toEqual(['n1', 'n2']);
  expect(rebuilt).toEqual([]);
});

it('[W15] a write waits while another process writes to the SQLite file', async () => {
  await store.record('biz-1', author, [node('n1')]);
  const writer = new Worker(
    `const { parentPort, workerData } = require('node:worker_threads');
     const db = new (require('node:sqlite').DatabaseSync)(workerData);
     db.exec("begin immediate; update node_config set hash = 'other'");
     parentPort.postMessage('writes');
     Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 150);
     db.exec('commit');
     db.close();`,
    { eval: true, workerData: path },
  );
  const ended = once(writer, 'exit');
  await once(writer, 'message');
  await store.record('biz-1', author, [node('n1'), node('n2')]);
  expect(await names()).toEqual(['n1', 'n2']);
  await ended;
});
