import { Kysely, sql } from 'kysely';
import { expect, it } from 'vitest';
import type { Tables } from './database.ts';
import { sqliteDialect } from './dialect.ts';
import { migrate } from './migrations.ts';
import { listNodeConfigs, type StoredNode } from './node-configs.ts';
import { recordNodeConfigs } from './recording.ts';

const author = { namespace: 'ns', name: 'osc', generation: 1 };
const other = { ...author, name: 'other' };
const now = new Date(0);

function node(uid: string): StoredNode {
  return { nodeName: 'n1', instanceId: 'server-1', interfaces: [], uid, generation: 1 };
}

it('a late writer does not remove a record another writer took over', async () => {
  await using db = new Kysely<Tables>({ dialect: sqliteDialect(':memory:') });
  await migrate(db, 'sqlite');
  const recording = { providerId: 'biz-1', author, nodes: [node('first')], unknown: [] };
  await recordNodeConfigs(db, recording, now);
  // Simulates a leader paused during its write, now running beside the next leader.
  const late = new Proxy(db, {
    get(target, key) {
      if (key === 'selectFrom') return target.selectFrom.bind(target);
      const takeOver = { ...recording, author: other, nodes: [node('second')] };
      return () => ({
        execute: async (work: Parameters<ReturnType<typeof db.transaction>['execute']>[0]) => {
          await recordNodeConfigs(db, takeOver, now);
          return target.transaction().execute(work);
        },
      });
    },
  });
  await recordNodeConfigs(late, { ...recording, nodes: [] }, now);
  expect(await listNodeConfigs(db, {})).toMatchObject([{ nodeName: 'n1' }]);
});

it('a failed transaction reports the original error, not "transaction is closed"', async () => {
  await using db = new Kysely<Tables>({ dialect: sqliteDialect(':memory:') });
  await migrate(db, 'sqlite');
  // Simulates a full volume: SQLite rolls back the transaction by itself.
  const end = sql`RAISE(ROLLBACK, 'database or disk is full')`;
  await sql`CREATE TRIGGER full BEFORE INSERT ON node_config BEGIN SELECT ${end}; END`.execute(db);
  const recording = { providerId: 'biz-1', author, nodes: [node('first')], unknown: [] };
  await expect(recordNodeConfigs(db, recording, now)).rejects.toThrow('database or disk is full');
  await sql`DROP TRIGGER full`.execute(db);
  await recordNodeConfigs(db, recording, now);
  expect(await listNodeConfigs(db, {})).toMatchObject([{ nodeName: 'n1' }]);
});
