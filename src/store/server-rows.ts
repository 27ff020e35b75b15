import type { Insertable, Selectable, Transaction } from 'kysely';
import type { NodeConfigTable, NodeTable, Tables } from './database.ts';
import type { StoredNode } from './node-configs.ts';
import { sqlTime } from './observed-ports.ts';

/** A node as it was recorded before, and as it is now. */
export interface NodeChange {
  readonly before: NodeConfigTable | undefined;
  readonly node: StoredNode | undefined;
}

interface ServersWrite {
  readonly tx: Transaction<Tables>;
  readonly providerId: string;
  readonly now: Date;
}

/** Notes the servers of these nodes; one that a node was built anew from is marked deleted, as are those of nodes that went. */
export async function writeServers(
  write: ServersWrite,
  changes: readonly NodeChange[],
): Promise<void> {
  const { tx, providerId } = write;
  const wanted = wantedServers(changes);
  const left = changes.flatMap(({ before }) =>
    before?.instance_id && !wanted.has(before.instance_id) ? [before] : [],
  );
  const ids = [...wanted.keys(), ...left.map(({ instance_id }) => instance_id)];
  if (ids.length === 0) return;
  const rows = await rowsOf(write, ids);
  if (providerId !== '') {
    const deployed = tx.deleteFrom('node_table').where('provider_id', '=', '');
    await deployed.where('attached_node_id', 'in', ids).execute();
  }
  const next = [...deletedRows(write, left, rows), ...changedRows(write, wanted, rows)];
  // Rows that are there keep their number.
  if (next.length > 0) await tx.replaceInto('node_table').values(next).execute();
}

type Rows = ReadonlyMap<string, Selectable<NodeTable>>;

/** Names of nodes by server id. */
function wantedServers(changes: readonly NodeChange[]): ReadonlyMap<string, string> {
  const wanted = new Map<string, string>();
  for (const { node } of changes) if (node?.instanceId) wanted.set(node.instanceId, node.nodeName);
  return wanted;
}

function deletedRows({ now }: ServersWrite, left: readonly NodeConfigTable[], rows: Rows) {
  const at = sqlTime(now);
  return left.flatMap(({ instance_id, node_name }) => {
    const row = rows.get(instance_id);
    // Under another name it may be somebody's node still.
    if (!row || row.deleted_at !== null || row.attached_node_name !== node_name) return [];
    return [{ ...row, status: 'deleted', deleted_at: at, modified_at: at }];
  });
}

function changedRows(
  { providerId, now }: ServersWrite,
  wanted: ReadonlyMap<string, string>,
  rows: Rows,
) {
  const at = sqlTime(now);
  return [...wanted].flatMap(([id, name]): Insertable<NodeTable>[] => {
    const row = rows.get(id);
    if (row?.attached_node_name === name && row.deleted_at === null) return [];
    const about = { attached_node_id: id, attached_node_name: name, provider_id: providerId };
    const times = { created_at: row?.created_at ?? at, modified_at: at, deleted_at: null };
    return [{ ...(row ? { id: row.id } : {}), ...about, ...times, status: 'active' }];
  });
}

async function rowsOf({ tx, providerId }: ServersWrite, ids: readonly string[]) {
  const rows: Selectable<NodeTable>[] = await tx
    .selectFrom('node_table')
    .selectAll()
    .where('provider_id', '=', providerId)
    .where('attached_node_id', 'in', ids)
    .execute();
  return new Map(rows.map((row) => [row.attached_node_id, row]));
}
