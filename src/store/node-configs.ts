import type { InventoryProvider, InventoryRecord } from '../api/inventory-http.ts';
import type { InterfaceSpec } from '../api/multinicnodeconfig.ts';
import type { Database, NodeConfigTable } from './database.ts';

/** The OpenstackConfig that delivers the written nodes; part of the change log. */
export interface Author {
  readonly namespace: string;
  readonly name: string;
  readonly generation: number;
}

/** A node's config in the business cluster. */
export interface StoredNode {
  readonly nodeName: string;
  readonly instanceId: string;
  readonly interfaces: readonly InterfaceSpec[];
  readonly uid: string;
  readonly generation: number;
}

export interface NodeConfigFilter {
  readonly providerId?: string | undefined;
  /** Records in these business clusters only. */
  readonly providers?: readonly string[] | undefined;
  readonly nodeName?: string | undefined;
  readonly instanceId?: string | undefined;
  readonly limit?: number | undefined;
  /** Records after this key, in list order. */
  readonly after?: { readonly providerId: string; readonly nodeName: string } | undefined;
}

/** Returns records sorted by provider and node name. */
export async function listNodeConfigs(
  db: Database,
  filter: NodeConfigFilter,
): Promise<InventoryRecord[]> {
  const { providerId, providers, nodeName, instanceId, limit, after } = filter;
  if (providers?.length === 0) return [];
  const rows = await db
    .selectFrom('node_config')
    .selectAll()
    .$if(providerId !== undefined, (q) => q.where('provider_id', '=', providerId ?? ''))
    .$if(providers !== undefined, (q) => q.where('provider_id', 'in', providers ?? []))
    .$if(nodeName !== undefined, (q) => q.where('node_name', '=', nodeName ?? ''))
    .$if(instanceId !== undefined, (q) => q.where('instance_id', '=', instanceId ?? ''))
    .$if(after !== undefined, (q) =>
      q.where((eb) => {
        const { providerId: provider = '', nodeName: node = '' } = after ?? {};
        return eb('provider_id', '>', provider).or(
          eb('provider_id', '=', provider).and('node_name', '>', node),
        );
      }),
    )
    .orderBy('provider_id')
    .orderBy('node_name')
    .$if(limit !== undefined, (q) => q.limit(limit ?? 0))
    .execute();
  return rows.map(toRecord);
}

export interface ProviderFilter {
  /** These business clusters only. */
  readonly providers?: readonly string[] | undefined;
  readonly limit?: number | undefined;
  /** Business clusters after this id. */
  readonly after?: string | undefined;
}

/** Returns business clusters sorted by id, each with nodes sorted by name. */
export async function listProviders(
  db: Database,
  { providers, limit, after }: ProviderFilter,
): Promise<InventoryProvider[]> {
  if (providers?.length === 0) return [];
  const page = db
    .selectFrom('node_config')
    .select('provider_id')
    .distinct()
    .$if(providers !== undefined, (q) => q.where('provider_id', 'in', providers ?? []))
    .$if(after !== undefined, (q) => q.where('provider_id', '>', after ?? ''))
    .orderBy('provider_id')
    .$if(limit !== undefined, (q) => q.limit(limit ?? 0));
  // One query: between two queries a business cluster could lose its last node, and a full page would look like the
  // last page.
  const rows = await db
    .selectFrom(page.as('page'))
    .innerJoin('node_config as node', 'node.provider_id', 'page.provider_id')
    .select([
      'node.provider_id as providerId',
      'node.node_name as nodeName',
      'node.instance_id as instanceId',
      'node.interface_count as interfaceCount',
      'node.updated_at as updatedAt',
    ])
    .orderBy('node.provider_id')
    .orderBy('node.node_name')
    .execute();
  const byProvider = Map.groupBy(rows, ({ providerId }) => providerId);
  return [...byProvider].map(([providerId, nodes]) => {
    const updatedAt =
      nodes
        .map((node) => node.updatedAt)
        .toSorted()
        .at(-1) ?? '';
    return { providerId, nodeCount: nodes.length, updatedAt, nodes };
  });
}

export function toRecord(row: NodeConfigTable): InventoryRecord {
  return {
    providerId: row.provider_id,
    nodeName: row.node_name,
    instanceId: row.instance_id,
    config: JSON.parse(row.config) as InventoryRecord['config'],
    lastConfigHash: row.hash,
    updatedAt: row.updated_at,
  };
}

/** Returns node names per business cluster with records from the OpenstackConfig. */
export async function recordedNodes(
  db: Database,
  { namespace, name }: Pick<Author, 'namespace' | 'name'>,
): Promise<ReadonlyMap<string, readonly string[]>> {
  const rows = await db
    .selectFrom('node_config')
    .select(['provider_id', 'node_name'])
    .where('cr_namespace', '=', namespace)
    .where('cr_name', '=', name)
    .execute();
  const byProvider = Map.groupBy(rows, ({ provider_id }) => provider_id);
  return new Map([...byProvider].map(([id, list]) => [id, list.map((row) => row.node_name)]));
}

/** Returns every OpenstackConfig with records, sorted by namespace and name. */
export async function listAuthors(db: Database): Promise<Pick<Author, 'namespace' | 'name'>[]> {
  const rows = await db
    .selectFrom('node_config')
    .select(['cr_namespace', 'cr_name'])
    .union(db.selectFrom('cr_state').select(['cr_namespace', 'cr_name']))
    .orderBy('cr_namespace')
    .orderBy('cr_name')
    .execute();
  return rows.map(({ cr_namespace: namespace, cr_name: name }) => ({ namespace, name }));
}
