import type { Transaction } from 'kysely';
import type { InventoryRecord } from '../api/inventory-http.ts';
import type { InterfaceSpec } from '../api/multinicnodeconfig.ts';
import { specHash } from '../api/spec-hash.ts';
import { type Change, changesBetween } from './changes.ts';
import type { Database, NodeConfigTable, Tables } from './database.ts';
import { rememberNics } from './server-nics.ts';

/** The OpenstackConfig whose nodes are written, as part of the change log. */
export interface Author {
  readonly namespace: string;
  readonly name: string;
  readonly generation: number;
}

/** One node as the business cluster holds it. */
export interface StoredNode {
  readonly nodeName: string;
  readonly instanceId: string;
  readonly interfaces: readonly InterfaceSpec[];
  readonly uid: string;
  readonly generation: number;
}

export interface NodeConfigFilter {
  readonly providerId?: string | undefined;
  readonly nodeName?: string | undefined;
  readonly instanceId?: string | undefined;
  readonly limit?: number | undefined;
  /** Records after this one, in the order of the list. */
  readonly after?: { readonly providerId: string; readonly nodeName: string } | undefined;
}

/** What is known of the nodes of one OpenstackConfig in one business cluster. */
export interface Recording {
  readonly providerId: string;
  readonly author: Author;
  readonly nodes: readonly StoredNode[];
  readonly unknown: readonly string[];
}

type Row = Pick<NodeConfigTable, 'node_name' | 'uid' | 'generation' | 'hash'>;

/** Records in the order of provider and node name. */
export async function listNodeConfigs(
  db: Database,
  filter: NodeConfigFilter,
): Promise<InventoryRecord[]> {
  const { providerId, nodeName, instanceId, limit, after } = filter;
  const rows = await db
    .selectFrom('node_config')
    .selectAll()
    .$if(providerId !== undefined, (q) => q.where('provider_id', '=', providerId ?? ''))
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

function toRecord(row: NodeConfigTable): InventoryRecord {
  return {
    providerId: row.provider_id,
    nodeName: row.node_name,
    instanceId: row.instance_id,
    config: JSON.parse(row.config) as InventoryRecord['config'],
    lastConfigHash: row.hash,
    updatedAt: row.updated_at,
  };
}

/**
 * Makes the rows of one OpenstackConfig in one business cluster equal to `nodes`, and logs what that changes. Nodes by the
 * names in `unknown` are there and could not be read: what is recorded of them stays.
 */
export async function recordNodeConfigs(
  db: Database,
  { providerId, author, nodes, unknown }: Recording,
  now: Date,
): Promise<void> {
  const rows = await ownRows(db, providerId, author);
  const known = new Map(rows.map((row) => [row.node_name, row]));
  const names = new Set([...nodes.map(({ nodeName }) => nodeName), ...unknown]);
  const changed = nodes.filter((node) => !isCurrent(known.get(node.nodeName), node));
  const gone = rows.filter((row) => !names.has(row.node_name));
  if (changed.length === 0 && gone.length === 0) return;
  await db.transaction().execute(async (tx) => {
    const write = { tx, providerId, author, at: now.toISOString() };
    for (const node of changed) await writeNode(write, node);
    for (const { node_name } of gone) await removeNode(write, node_name);
    await prune(tx);
  });
}

/** Business clusters in which nodes of the OpenstackConfig are recorded, with the names of those nodes. */
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

/** Every OpenstackConfig that has rows, in the order of namespace and name. */
export async function listAuthors(db: Database): Promise<Pick<Author, 'namespace' | 'name'>[]> {
  return db
    .selectFrom('node_config')
    .select(['cr_namespace as namespace', 'cr_name as name'])
    .distinct()
    .orderBy('cr_namespace')
    .orderBy('cr_name')
    .execute();
}

interface Write {
  readonly tx: Transaction<Tables>;
  readonly providerId: string;
  readonly author: Author;
  readonly at: string;
}

async function ownRows(db: Database, providerId: string, author: Author): Promise<Row[]> {
  return db
    .selectFrom('node_config')
    .select(['node_name', 'uid', 'generation', 'hash'])
    .where('provider_id', '=', providerId)
    .where('cr_namespace', '=', author.namespace)
    .where('cr_name', '=', author.name)
    .execute();
}

// The generation moves with every change of the spec, so it need not be hashed to see that nothing changed.
function isCurrent(row: Row | undefined, { uid, generation }: StoredNode): boolean {
  return row?.uid === uid && row.generation === generation;
}

async function writeNode(write: Write, node: StoredNode): Promise<void> {
  const { tx, providerId, author, at } = write;
  const { nodeName, instanceId, interfaces } = node;
  const hash = specHash({ nodeName, instanceId, interfaces: [...interfaces] });
  const config = JSON.stringify({ nodeName, instanceId, interfaces });
  const before = await readRow(write, nodeName);
  await tx
    .replaceInto('node_config')
    .values({
      provider_id: providerId,
      node_name: nodeName,
      instance_id: instanceId,
      config,
      hash,
      uid: node.uid,
      generation: node.generation,
      cr_namespace: author.namespace,
      cr_name: author.name,
      updated_at: before?.hash === hash ? before.updated_at : at,
    })
    .execute();
  await rememberNics(tx, { instance_id: instanceId, config, updated_at: at });
  await log(write, node, changesBetween(entriesOf(before), interfaces));
}

async function removeNode(write: Write, nodeName: string): Promise<void> {
  const before = await readRow(write, nodeName);
  await write.tx
    .deleteFrom('node_config')
    .where('provider_id', '=', write.providerId)
    .where('node_name', '=', nodeName)
    .execute();
  const node = { nodeName, instanceId: before?.instance_id ?? '' };
  await log(write, node, changesBetween(entriesOf(before), []));
}

async function readRow({ tx, providerId }: Write, nodeName: string) {
  return tx
    .selectFrom('node_config')
    .selectAll()
    .where('provider_id', '=', providerId)
    .where('node_name', '=', nodeName)
    .executeTakeFirst();
}

function entriesOf(row: NodeConfigTable | undefined): readonly InterfaceSpec[] {
  return row ? toRecord(row).config.interfaces : [];
}

async function log(
  { tx, providerId, author, at }: Write,
  { nodeName, instanceId }: Pick<StoredNode, 'nodeName' | 'instanceId'>,
  changes: readonly Change[],
): Promise<void> {
  if (changes.length === 0) return;
  const about = { at, provider_id: providerId, node_name: nodeName, instance_id: instanceId };
  const by = {
    cr_namespace: author.namespace,
    cr_name: author.name,
    cr_generation: author.generation,
  };
  const rows = changes.map((change) => ({ ...about, ...by, ...changeColumns(change) }));
  await tx.insertInto('change_log').values(rows).execute();
}

function changeColumns({ change, entry, before, after }: Change) {
  return {
    change,
    name: entry.name ?? '',
    port_id: entry.portId ?? '',
    mac_address: entry.macAddress,
    before_entry: before ? JSON.stringify(before) : '',
    after_entry: after ? JSON.stringify(after) : '',
  };
}

/** Rows that the change log keeps: years of a normal cluster, tens of megabytes. */
const logRows = 100_000;

async function prune(tx: Transaction<Tables>): Promise<void> {
  const newest = await tx
    .selectFrom('change_log')
    .select(({ fn }) => fn.max('id').as('id'))
    .executeTakeFirst();
  const last = (newest?.id ?? 0) - logRows;
  if (last > 0) await tx.deleteFrom('change_log').where('id', '<=', last).execute();
}
