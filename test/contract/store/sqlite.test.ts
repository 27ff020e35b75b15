import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { Store } from '../../../src/store/store.ts';
import { legacyTablesContract } from './legacy-tables.ts';
import { type StoreUnderTest, storeContract, tables } from './suite.ts';

async function open(): Promise<StoreUnderTest> {
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
      for (const table of tables) run(`delete from ${table}`);
    },
    [Symbol.asyncDispose]: async () => rm(directory, { recursive: true }),
  };
}

storeContract('the store on SQLite', open);
legacyTablesContract('the tables of the legacy system on SQLite', open);
