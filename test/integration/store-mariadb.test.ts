import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { createConnection } from 'mysql2/promise';
import { expect, it } from 'vitest';
import { Store } from '../../src/store/store.ts';
import { deployedTablesContract } from '../contract/store/deployed-tables.ts';
import { type StoreUnderTest, storeContract, tables } from '../contract/store/suite.ts';
import { startMariadb } from './mariadb.ts';

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

storeContract('the store on MariaDB', open);
deployedTablesContract('the tables of the deployed system on MariaDB', open);

it('MariaDB that falls silent without closing a connection costs its connections, not those after them', async () => {
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
  expect(String((lost[0] as PromiseRejectedResult).reason)).toContain('MariaDB said nothing for');
  expect(await store.list()).toEqual([]);
  await store[Symbol.asyncDispose]();
}, 120_000);

/** Passes bytes on, until it falls silent: then only on connections that are made afterwards. */
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
