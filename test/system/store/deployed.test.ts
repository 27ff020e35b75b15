import { Kysely, type KyselyPlugin } from 'kysely';
import { type Connection, createConnection } from 'mysql2/promise';
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import type { Tables } from '../../../src/store/database.ts';
import { mariadbDialect } from '../../../src/store/dialect.ts';
import { createLegacyTables } from '../../../src/store/legacy-tables.ts';
import { Store } from '../../../src/store/store.ts';
import { observed } from '../../contract/store/legacy-tables.ts';
import { nic, node } from '../../contract/store/suite.ts';
import { scaled } from '../../speed.ts';
import { type Mariadb, startMariadb } from './mariadb-server.ts';

// Tables of the first legacy operator.
const deployed = [
  `CREATE TABLE multi_subnet (id INT AUTO_INCREMENT PRIMARY KEY, subnet_id VARCHAR(36) NOT NULL UNIQUE,
    subnet_name VARCHAR(255) NOT NULL, cidr VARCHAR(255) NOT NULL, network_id VARCHAR(36) NOT NULL,
    status VARCHAR(50) DEFAULT 'active', created_at TIMESTAMP NULL, modified_at TIMESTAMP NULL, deleted_at TIMESTAMP NULL)`,
  `CREATE TABLE node_table (id INT AUTO_INCREMENT PRIMARY KEY, attached_node_id VARCHAR(36) NOT NULL UNIQUE,
    attached_node_name VARCHAR(255) NOT NULL UNIQUE,
    status VARCHAR(50) DEFAULT 'active', created_at TIMESTAMP NULL, modified_at TIMESTAMP NULL, deleted_at TIMESTAMP NULL)`,
  `CREATE TABLE multi_interface (id INT AUTO_INCREMENT PRIMARY KEY, port_id VARCHAR(36) NOT NULL UNIQUE,
    subnet_id VARCHAR(36) NOT NULL, macaddress VARCHAR(17) NOT NULL, attached_node_id VARCHAR(36),
    attached_node_name VARCHAR(255), cr_namespace VARCHAR(255) NOT NULL, cr_name VARCHAR(255) NOT NULL,
    status VARCHAR(50) DEFAULT 'active', netplan_success TINYINT(1) NOT NULL DEFAULT 0,
    created_at TIMESTAMP NULL, modified_at TIMESTAMP NULL, deleted_at TIMESTAMP NULL,
    FOREIGN KEY (subnet_id) REFERENCES multi_subnet(subnet_id),
    FOREIGN KEY (attached_node_id) REFERENCES node_table(attached_node_id),
    FOREIGN KEY (attached_node_name) REFERENCES node_table(attached_node_name),
    UNIQUE KEY unique_cr_interface (cr_namespace, cr_name, port_id))`,
  `CREATE TABLE cr_state (id INT AUTO_INCREMENT PRIMARY KEY, cr_namespace VARCHAR(255) NOT NULL, cr_name VARCHAR(255) NOT NULL,
    spec_hash VARCHAR(64) NOT NULL, last_updated TIMESTAMP DEFAULT CURRENT_TIMESTAMP ON UPDATE CURRENT_TIMESTAMP,
    UNIQUE KEY unique_cr (cr_namespace, cr_name))`,
];
const created = "'2025-05-01 10:00:00'";
const rows = [
  `INSERT INTO multi_subnet (subnet_id, subnet_name, cidr, network_id, created_at) VALUES ('sub', 'old', '10.0.0.0/24', 'net', ${created})`,
  `INSERT INTO node_table (attached_node_id, attached_node_name, created_at) VALUES ('server-n1', 'n1', ${created}), ('server-n9', 'n9', ${created})`,
  `INSERT INTO multi_interface (port_id, subnet_id, macaddress, attached_node_id, attached_node_name, cr_namespace, cr_name, created_at)
    VALUES ('p0', 'sub', 'fa:16:3e:00:00:00', 'server-n1', 'n1', 'ns', 'osc', ${created}), ('p9', 'sub', 'fa:16:3e:00:00:09', 'server-n9', 'n9', 'ns', 'osc', ${created})`,
];
/** Later writes of a legacy operator that still runs. */
const upserts = [
  `INSERT INTO node_table (attached_node_id, attached_node_name, status) VALUES ('server-n9', 'n9', 'active')
    ON DUPLICATE KEY UPDATE attached_node_name = VALUES(attached_node_name), status = VALUES(status), modified_at = NOW()`,
  `INSERT INTO multi_interface (port_id, subnet_id, macaddress, cr_namespace, cr_name) VALUES ('p9', 'sub', 'fa:16:3e:00:00:09', 'ns', 'osc')
    ON DUPLICATE KEY UPDATE macaddress = VALUES(macaddress), netplan_success = 0, modified_at = NOW()`,
];
const author = { namespace: 'ns', name: 'osc', generation: 1 };
const entry = (n: number) => nic(n, { subnetId: 'sub', networkId: 'net' });

let server: Mariadb;
let connection: Connection;

beforeAll(async () => {
  server = await startMariadb();
  const { database: _notYet, ...login } = server.access;
  connection = await createConnection({ ...login, dateStrings: true });
}, scaled(120_000));

beforeEach(anew);

async function anew(): Promise<void> {
  const { database } = server.access;
  await connection.query(`drop database if exists ${database}`);
  await connection.query(`create database ${database} character set utf8mb4`);
  await connection.changeUser({ database });
}

afterAll(async () => {
  await connection.end();
  await server[Symbol.asyncDispose]();
});

const open = async () =>
  Store.open({ kind: 'mariadb', ...server.access }, { now: () => new Date() });

async function query(sql: string): Promise<Record<string, unknown>[]> {
  const [found] = await connection.query(sql);
  return found as Record<string, unknown>[];
}

async function portsOf(): Promise<string[]> {
  const found = await query('select * from multi_interface order by port_id');
  return found.map(
    (row) => `${String(row.provider_id)}/${String(row.port_id)} ${String(row.status)}`,
  );
}

it('tables that a legacy operator left are taken over with their rows', async () => {
  for (const sql of [...deployed, ...rows]) await query(sql);
  await using store = await open();
  expect(await store.list()).toEqual([]);
  expect(await portsOf()).toEqual(['/p0 active', '/p9 active']);
  expect(await query('select created_at, deleted_at from multi_subnet')).toEqual([
    { created_at: '2025-05-01 10:00:00.000', deleted_at: null },
  ]);
  const n1 = node('n1', { interfaces: [entry(0), entry(1)] });
  await store.record('biz-1', author, [n1], { sighting: observed() });
  expect(await portsOf()).toEqual(['biz-1/p0 active', 'biz-1/p1 active', '/p9 active']);
  // A rebuilt server with the former name, and the same name in a second cluster: the legacy keys refused both.
  await store.record('biz-1', author, [{ ...n1, instanceId: 'again', generation: 2 }], {
    sighting: observed(),
  });
  await store.record('biz-2', author, [{ ...n1, instanceId: 'third' }], { sighting: observed() });
  expect(
    await query("select count(*) as n from node_table where attached_node_name = 'n1'"),
  ).toEqual([{ n: 3 }]);
  for (const sql of upserts) await query(sql);
  expect(await query("select count(*) as n from multi_interface where port_id = 'p9'")).toEqual([
    { n: 1 },
  ]);
});

it('the next start completes a takeover killed before any statement', async () => {
  let known: unknown;
  for (let after = 0; ; after++) {
    await anew();
    for (const sql of [...deployed, ...rows]) await query(sql);
    const ended = await takenOver(after);
    await using store = await open();
    await store.list();
    const columns = await layout();
    known ??= columns;
    expect(columns).toEqual(known);
    expect(await portsOf()).toEqual(['/p0 active', '/p9 active']);
    if (!ended) continue;
    expect(after).toBeGreaterThan(10);
    return;
  }
});

/** True if the takeover completed before the kill. */
async function takenOver(after: number): Promise<boolean> {
  await using db = new Kysely<Tables>({ dialect: mariadbDialect(server.access) });
  let statements = 0;
  const dying: KyselyPlugin = {
    transformQuery({ node: statement }) {
      statements += 1;
      if (statements > after) throw new Error('killed');
      return statement;
    },
    transformResult: async ({ result }) => result,
  };
  try {
    await createLegacyTables(db.withPlugin(dying), 'mariadb');
    return true;
  } catch (error) {
    expect(String(error)).toBe('Error: killed');
    return false;
  }
}

it('[RW-80] tables of an earlier form than the last are named, and are not touched', async () => {
  await query('create table multi_interface (id VARCHAR(36) PRIMARY KEY, macaddress VARCHAR(17))');
  await using store = await open();
  await expect(store.list()).rejects.toThrow(
    'table multi_interface belongs to neither MultiNIC nor',
  );
  await query('rename table multi_interface to multi_interface_of_before');
  expect(await store.list()).toEqual([]);
});

it('two that start at once, and a fresh database, end with the same tables', async () => {
  for (const sql of deployed) await query(sql);
  const stores = await Promise.all([open(), open()]);
  await Promise.all(stores.map((store) => store.list()));
  for (const store of stores) await store[Symbol.asyncDispose]();
  const taken = await layout();
  await anew();
  await using store = await open();
  await store.list();
  expect(taken).toEqual(await layout());
});

/** Columns and keys of the tables, without column order and row numbers. */
async function layout() {
  const columns =
    await query(`select table_name, column_name, column_type, is_nullable, column_default, collation_name
    from information_schema.columns where table_schema = database() and column_name <> 'id' order by 1, 2`);
  const keys =
    await query(`select table_name, index_name, column_name from information_schema.statistics
    where table_schema = database() and non_unique = 0 order by 1, 2, seq_in_index`);
  return { columns, keys };
}
