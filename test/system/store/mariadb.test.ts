import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { createConnection } from 'mysql2/promise';
import { expect, it } from 'vitest';
import { Store } from '../../../src/store/store.ts';
import { legacyTablesContract, observed } from '../../contract/store/legacy-tables.ts';
import {
  nic,
  node,
  type StoreUnderTest,
  storeContract,
  tables,
} from '../../contract/store/suite.ts';
import { scaled } from '../../speed.ts';
import { startMariadb } from './mariadb-server.ts';

async function open(): Promise<StoreUnderTest> {
  const server = await startMariadb();
  try {
    const { database, ...access } = server.access;
    const connection = await createConnection({ ...access, dateStrings: true });
    await connection.query(`create database ${database}`);
    await connection.changeUser({ database });

    async function query(sql: string) {
      const [rows] = await connection.query(sql);
      return rows as Record<string, unknown>[];
    }

    return {
      open: async (now) => Store.open({ kind: 'mariadb', ...server.access }, { now }),
      query,
      async empty() {
        for (const table of tables) await query(`delete from ${table}`);
      },
      async [Symbol.asyncDispose]() {
        await connection.end();
        await server[Symbol.asyncDispose]();
      },
    };
  } catch (error) {
    await server[Symbol.asyncDispose]();
    throw error;
  }
}

const today = (): Date => new Date();

storeContract('the store on MariaDB', open);
legacyTablesContract('the tables of the legacy system on MariaDB', open);

it(
  'leaders that write the same nodes concurrently do not block each other, and the last write wins',
  async () => {
    await using world = await open();
    await using one = await world.open(today);
    await using other = await world.open(today);
    const author = { namespace: 'multinic-system', name: 'osc', generation: 1 };
    const nodes = Array.from({ length: 60 }, (_, n) =>
      node(`n${n}`, {
        interfaces: [nic(n % 10, { portId: `p${n}`, subnetId: 'sub', networkId: 'net' })],
      }),
    );
    const seenAs = (status: string) => {
      const port = { status, addresses: [], createdAt: undefined };
      return { ...observed(), ports: new Map(nodes.map((_, n) => [`p${n}`, port])) };
    };
    const rounds = 12;
    const leads = async (store: Store, all: typeof nodes): Promise<void> => {
      for (let generation = 1; generation <= rounds; generation++) {
        const changed = all.map((each) => ({ ...each, generation }));
        await store.record('biz-1', author, changed, { sighting: seenAs(`ROUND${generation}`) });
      }
    };
    const ended = await Promise.allSettled([leads(one, nodes), leads(other, nodes.toReversed())]);
    expect(ended).toEqual(ended.map(() => ({ status: 'fulfilled', value: undefined })));
    await one.record('biz-1', author, nodes, { sighting: seenAs('ACTIVE') });
    const rows = await world.query('select port_status, status from multi_interface');
    expect(rows).toEqual(nodes.map(() => ({ port_status: 'ACTIVE', status: 'active' })));
    expect(await world.query('select count(*) as n from node_table')).toEqual([
      { n: nodes.length },
    ]);
  },
  scaled(120_000),
);

it(
  'after MariaDB hangs without closing a connection, only existing connections fail',
  async () => {
    await using server = await startMariadb();
    const { database, ...login } = server.access;
    const connection = await createConnection(login);
    await connection.query(`create database ${database}`);
    await connection.end();
    await using relay = await startRelay(server.access.port);
    const access = { ...server.access, port: relay.port };
    const store = await Store.open({ kind: 'mariadb', ...access }, { now: () => new Date() });
    const reads = () => Promise.allSettled(Array.from({ length: 5 }, async () => store.list()));
    await reads();
    relay.fallSilent();
    const lost = await reads();
    expect(lost.filter(({ status }) => status === 'fulfilled')).toEqual([]);
    expect(String((lost[0] as PromiseRejectedResult).reason)).toContain(
      'no response from MariaDB for',
    );
    expect(await store.list()).toEqual([]);
    await store[Symbol.asyncDispose]();
  },
  scaled(120_000),
);

/** Relay that can stop forwarding: afterwards only new connections are forwarded. */
async function startRelay(target: number) {
  const sockets: Socket[] = [];
  const server = createServer((near) => {
    const far = connect(target, '127.0.0.1');
    for (const socket of [near, far]) socket.on('error', () => undefined); // it ends, as it should
    near.pipe(far);
    far.pipe(near);
    sockets.push(near, far);
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    port: (server.address() as AddressInfo).port,
    fallSilent: () => {
      for (const socket of sockets) socket.unpipe().pause();
    },
    [Symbol.asyncDispose]: async () => {
      for (const socket of sockets) socket.destroy();
      server.close();
      await once(server, 'close');
    },
  };
}

it.each(['NO_BACKSLASH_ESCAPES', 'ORACLE', 'EMPTY_STRING_IS_NULL', 'PIPES_AS_CONCAT,ANSI_QUOTES'])(
  '[W6] text is stored unchanged with server sql_mode %s',
  async (mode) => {
    await using world = await open();
    await world.query(`set global sql_mode = '${mode}'`);
    await using store = await world.open(today);
    const author = { namespace: 'multinic-system', name: 'osc', generation: 1 };
    const odd = `it's "a" \\ ',(select user()),' || \n %`;
    const config = node('n1', { interfaces: [nic(0, { networkId: odd, subnetId: '' })] });
    await store.record('biz-1', author, [config]);
    expect((await store.list())[0]?.config.interfaces).toEqual(config.interfaces);
  },
);
