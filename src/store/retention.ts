import { batches } from './batches.ts';
import type { Database } from './database.ts';
import { sqlTime } from './observed-ports.ts';

/** Retention for deleted rows: 365 days. */
const retentionMs = 365 * 86_400_000;
/** Rows per run; the rest waits for the next run, because other writes must not wait for old rows. */
const mostAtOnce = 5_000;
const idsAtOnce = 500;
const withDeletedRows = ['multi_interface', 'multi_subnet', 'node_table'] as const;

/**
 * Deletes rows marked deleted a year ago. A SELECT finds their ids first: a DELETE with a table scan locks the whole
 * table.
 */
export async function forgetDeletedRows(db: Database, now: Date): Promise<void> {
  const oldest = sqlTime(new Date(now.getTime() - retentionMs));
  for (const table of withDeletedRows) {
    const rows = await db
      .selectFrom(table)
      .select('id')
      .where('deleted_at', '<', oldest)
      .limit(mostAtOnce)
      .execute();
    for (const some of batches(rows, idsAtOnce)) {
      const ids = some.map(({ id }) => id);
      // Another writer may have restored some rows meanwhile.
      const old = db.deleteFrom(table).where('deleted_at', '<', oldest);
      await old.where('id', 'in', ids).execute();
    }
  }
}
