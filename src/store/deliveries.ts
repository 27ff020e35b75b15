import { batches } from './batches.ts';
import type { Database, NodeConfigTable } from './database.ts';
import { type Author, type StoredNode, toRecord } from './node-configs.ts';
import { storeNics } from './server-nics.ts';

/** A recorded node with the OpenstackConfig that delivered the node. */
export interface RecordedDelivery extends StoredNode {
  readonly author: Pick<Author, 'namespace' | 'name'>;
}

/** Selects records in one business cluster: a record matches by author, instance id or node name. */
export interface DeliveryFilter {
  readonly providerId: string;
  readonly author?: Pick<Author, 'namespace' | 'name'>;
  readonly instanceIds?: readonly string[];
  readonly nodeNames?: readonly string[];
}

const idsAtOnce = 500;

/** Returns the selected records, sorted by node name. */
export async function listDeliveries(
  db: Database,
  { providerId, author, instanceIds = [], nodeNames = [] }: DeliveryFilter,
): Promise<RecordedDelivery[]> {
  const rows = new Map<string, NodeConfigTable>();
  const base = db.selectFrom('node_config').selectAll().where('provider_id', '=', providerId);
  const queries = [
    ...(author
      ? [base.where('cr_namespace', '=', author.namespace).where('cr_name', '=', author.name)]
      : []),
    ...batches(instanceIds, idsAtOnce).map((some) => base.where('instance_id', 'in', some)),
    ...batches(nodeNames, idsAtOnce).map((some) => base.where('node_name', 'in', some)),
  ];
  for (const query of queries) {
    for (const row of await query.execute()) rows.set(row.node_name, row);
  }
  return [...rows.values()]
    .toSorted((a, b) => (a.node_name < b.node_name ? -1 : 1))
    .map(deliveryOf);
}

function deliveryOf(row: NodeConfigTable): RecordedDelivery {
  const { nodeName, instanceId, config } = toRecord(row);
  const { uid, generation, cr_namespace: namespace, cr_name: name } = row;
  const { interfaces } = config;
  return { nodeName, instanceId, interfaces, uid, generation, author: { namespace, name } };
}

/** Stores server NICs before delivery: a crash after the delivery then loses no index. */
export async function reserveNics(
  db: Database,
  nodes: readonly Pick<StoredNode, 'nodeName' | 'instanceId' | 'interfaces'>[],
  now: Date,
): Promise<void> {
  const rows = nodes.map(({ nodeName, instanceId, interfaces }) => ({
    instance_id: instanceId,
    config: JSON.stringify({ nodeName, instanceId, interfaces }),
    updated_at: now.toISOString(),
  }));
  await db.transaction().execute(async (tx) => storeNics(tx, rows));
}
