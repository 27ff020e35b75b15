import { createConnection } from 'mysql2/promise';
import { Store } from '../../src/store/store.ts';
import { storeContract } from '../contract/store/suite.ts';
import { startMariadb } from './mariadb.ts';

storeContract('the store on MariaDB', async () => {
  const server = await startMariadb();
  try {
    const { database, ...access } = server.access;
    const connection = await createConnection(access);
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
        await query('delete from node_config');
        await query('delete from change_log');
        await query('delete from server_nics');
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
});
