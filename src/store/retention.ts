import { batches } from './batches.ts';
import type { Database } from './database.ts';
import { sqlTime } from './observed-ports.ts';

/** As long as the NICs of a server are remembered that nothing is delivered to any more. */
const keptMs = 365 * 86_400_000;
/** More wait for the next time: nobody is to be kept waiting by old rows. */
const mostAtOnce = 5_000;
const idsAtOnce = 500;
const withDeletedRows = ['multi_interface', 'multi_subnet', 'node_table'] as const;

/** Forgets rows that were marked deleted a year ago. They are looked up first: a DELETE that looks through a table locks all of it. */
export async function forgetDeletedRows(db: Database, now: Date): Promise<void> {
  const oldest = sqlTime(new Date(now.getTime() - keptMs));
  for (const table of withDeletedRows) {
    const rows = await db
      .selectFrom(table)
      .select('id')
      .where('deleted_at', '<', oldest)
      .limit(mostAtOnce)
      .execute();
    for (const some of batches(rows, idsAtOnce)) {
      const ids = some.map(({ id }) => id);
      // Somebody else may have brought one of them back meanwhile.
      const old = db.deleteFrom(table).where('deleted_at', '<', oldest);
      await old.where('id', 'in', ids).execute();
    }
  }
}
