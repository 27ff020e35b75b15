import type { Transaction } from 'kysely';
import type { InterfaceSpec } from '../api/multinicnodeconfig.ts';
import type { Database, NodeConfigTable, ServerNicsTable, Tables } from './database.ts';

/** The NICs of a server at its last delivery. */
export interface DeliveredNics {
  readonly instanceId: string;
  readonly interfaces: readonly InterfaceSpec[];
}

/** Ids in one statement; SQLite takes some 32,000 parameters, MariaDB any number. */
const idsAtOnce = 500;

/** The NICs that these servers had at their last delivery, whether or not the node is still there. */
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

/** Remembers what is delivered to these servers now. */
export async function rememberNics(
  tx: Transaction<Tables>,
  rows: readonly ServerNicsTable[],
): Promise<void> {
  const known = rows.filter(({ instance_id }) => instance_id !== '');
  if (known.length > 0) await tx.replaceInto('server_nics').values(known).execute();
}

/** A server that was not delivered to for so long is hardly coming back. */
const keptMs = 365 * 86_400_000;

/** Forgets them. They are looked up first: a DELETE that looks through the table locks all of it. */
export async function forgetOldNics(db: Database, now: Date): Promise<void> {
  const oldest = new Date(now.getTime() - keptMs).toISOString();
  const rows = await db
    .selectFrom('server_nics')
    .select('instance_id')
    .where('updated_at', '<', oldest)
    .limit(idsAtOnce)
    .execute();
  const ids = rows.map(({ instance_id }) => instance_id);
  if (ids.length > 0) await db.deleteFrom('server_nics').where('instance_id', 'in', ids).execute();
}
