import type { Transaction } from 'kysely';
import type { InterfaceSpec } from '../api/multinicnodeconfig.ts';
import type { Database, NodeConfigTable, ServerNicsTable, Tables } from './database.ts';

/** A server's NICs at the last delivery. */
export interface DeliveredNics {
  readonly instanceId: string;
  readonly interfaces: readonly InterfaceSpec[];
}

/** Ids per statement; SQLite accepts about 32,000 parameters, MariaDB any number. */
const idsAtOnce = 500;

/** Returns the last delivered NICs for these servers, even if the node is deleted. */
export async function nicsOfServers(
  db: Database,
  instanceIds: readonly string[],
): Promise<DeliveredNics[]> {
  const found: DeliveredNics[] = [];
  for (let from = 0; from < instanceIds.length; from += idsAtOnce) {
    const rows = await db
      .selectFrom('server_nics')
      .select(['instance_id', 'config'])
      .where('instance_id', 'in', instanceIds.slice(from, from + idsAtOnce))
      .orderBy('instance_id')
      .execute();
    found.push(...rows.map(toRecorded));
  }
  return found;
}

function toRecorded({ instance_id, config }: Pick<NodeConfigTable, 'instance_id' | 'config'>) {
  const { interfaces } = JSON.parse(config) as Pick<DeliveredNics, 'interfaces'>;
  return { instanceId: instance_id, interfaces };
}

/** Stores the current delivery for these servers. */
export async function storeNics(
  tx: Transaction<Tables>,
  rows: readonly ServerNicsTable[],
): Promise<void> {
  const known = rows.filter(({ instance_id }) => instance_id !== '');
  if (known.length > 0) await tx.replaceInto('server_nics').values(known).execute();
}

/** Retention: after 365 days without delivery a server hardly returns. */
const retentionMs = 365 * 86_400_000;

/** Deletes expired rows. A SELECT finds their ids first: a DELETE with a table scan locks the whole table. */
export async function deleteOldNics(db: Database, now: Date): Promise<void> {
  const oldest = new Date(now.getTime() - retentionMs).toISOString();
  const rows = await db
    .selectFrom('server_nics')
    .select('instance_id')
    .where('updated_at', '<', oldest)
    .limit(idsAtOnce)
    .execute();
  const ids = rows.map(({ instance_id }) => instance_id);
  if (ids.length > 0) await db.deleteFrom('server_nics').where('instance_id', 'in', ids).execute();
}
