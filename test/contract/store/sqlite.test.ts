import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { Store } from '../../../src/store/store.ts';
import { storeContract } from './suite.ts';

storeContract('the store on SQLite', async () => {
  const directory = await mkdtemp(join(tmpdir(), 'multinic-store-'));
  const path = join(directory, 'inventory.db');

  function run(sql: string) {
    const db = new DatabaseSync(path, { timeout: 5_000 });
    try {
      return db.prepare(sql).all();
    } finally {
      db.close();
    }
  }

  return {
    open: async (now) => Store.open({ kind: 'sqlite', path }, { now }),
    query: async (sql) => run(sql).map((row) => ({ ...row })),
    async empty() {
      run('delete from node_config');
      run('delete from change_log');
      run('delete from server_nics');
    },
    [Symbol.asyncDispose]: async () => rm(directory, { recursive: true }),
  };
});
