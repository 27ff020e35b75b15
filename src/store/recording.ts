import { hash as digest } from 'node:crypto';
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Transaction } from 'kysely';
import type { InterfaceSpec } from '../api/multinicnodeconfig.ts';
import { specHash } from '../api/spec-hash.ts';
import { compareText } from '../plan/view.ts';
import { batches } from './batches.ts';
import { type Change, changesBetween } from './changes.ts';
import { configRow, isNewConfig, writeConfig } from './config-rows.ts';
import type { ChangeLogTable, Database, NodeConfigTable, Tables } from './database.ts';
import { type RowsWrite, writeRows } from './interface-rows.ts';
import { type Author, type StoredNode, toRecord } from './node-configs.ts';
import { nothingObserved, type ObservedPorts, observedHash, subnetsOf } from './observed-ports.ts';
import type { RemovalBases } from './removal-bases.ts';
import { storeNics } from './server-nics.ts';
import { changedSubnets, retireSubnets, writeSubnets } from './subnet-rows.ts';

/** Known nodes for one OpenstackConfig in one business cluster. */
export interface Recording {
  readonly providerId: string;
  readonly author: Author;
  readonly nodes: readonly StoredNode[];
  /** Names: existing nodes with a failed read. Their records stay. */
  readonly unknown: readonly string[];
  /** undefined: no ports were observed. */
  readonly sighting?: ObservedPorts | undefined;
  /** Names: nodes whose records are removed; undefined: all except `nodes` and `unknown`. */
  readonly gone?: readonly string[];
  /** Bases for the log; undefined: all are unknown. */
  readonly bases?: RemovalBases | undefined;
  /** uids: objects with a further business cluster id; their removed records are not logged. */
  readonly moved?: ReadonlySet<string> | undefined;
}

/** Optional recording fields; without `unknown` no node read failed. */
export type RecordingDetails = Partial<Pick<Recording, 'unknown' | 'sighting' | 'bases' | 'moved'>>;

/** Makes the rows for one OpenstackConfig in one business cluster equal to `nodes`, and logs the changes. */
export async function recordNodeConfigs(
  db: Database,
  recording: Recording,
  now: Date,
): Promise<void> {
  const { providerId, author, nodes, unknown, gone: given } = recording;
  const { sighting = nothingObserved, bases = new Map(), moved = new Set<string>() } = recording;
  const rows = await ownRows(db, providerId, author);
  const subnets = await changedSubnets(db, providerId, subnetsOf(nodes, sighting));
  const isConfigChanged = await isNewConfig(db, author, sighting);
  const known = new Map(rows.map((row) => [row.node_name, row]));
  const names = new Set([...nodes.map(({ nodeName }) => nodeName), ...unknown]);
  const hashes = new Map<string, string>();
  for (const some of batches(nodes)) {
    for (const node of some) hashes.set(node.nodeName, observedHash(node, sighting));
    await nextTurn();
  }
  // Fixed lock order: two leaders locking the same rows from both ends would deadlock.
  const changed = nodes
    .filter((node) => !isCurrent(known.get(node.nodeName), node, hashes.get(node.nodeName)))
    .toSorted((a, b) => compareText(a.nodeName, b.nodeName));
  const gone = rows
    .filter(({ node_name: name }) => given?.includes(name) ?? !names.has(name))
    .toSorted((a, b) => compareText(a.node_name, b.node_name));
  const hasChanges = changed.length + gone.length + subnets.length > 0 || isConfigChanged;
  if (!hasChanges) return;
  await db.transaction().execute(async (tx) => {
    const leftSubnets = new Set<string>();
    const observed = { sighting, hashes, leftSubnets };
    const write = { tx, providerId, author, bases, moved, ...observed, now, at: now.toISOString() };
    await writeSubnets(write, subnets);
    if (isConfigChanged) await writeConfig(write);
    // SQLite calls are synchronous: without a pause between batches they block the event loop.
    for (const some of batches(changed)) {
      await writeNodes(write, some);
      await nextTurn();
    }
    for (const some of batches(gone)) {
      await removeNodes(write, some);
      await nextTurn();
    }
    await retireSubnets(write, [...leftSubnets]);
    await prune(tx);
  });
}

/** Hashes the rows that `recordNodeConfigs` compares: node configs, spec hash, and the business cluster's subnets. */
export async function fingerprintOf(
  db: Database,
  providerId: string,
  author: Pick<Author, 'namespace' | 'name'>,
): Promise<string> {
  const rows = await ownRows(db, providerId, author);
  const config = await configRow(db, author);
  const subnets = await db
    .selectFrom('multi_subnet')
    .selectAll()
    .where('provider_id', '=', providerId)
    .orderBy('subnet_id')
    .execute();
  return digest('sha256', JSON.stringify([rows, config, subnets]));
}

/** A recorded node's object. */
export interface RecordedObject {
  readonly nodeName: string;
  readonly uid: string;
  readonly generation: number;
}

/** Returns the objects recorded for an OpenstackConfig in a business cluster. */
export async function recordedObjects(
  db: Database,
  providerId: string,
  author: Pick<Author, 'namespace' | 'name'>,
): Promise<RecordedObject[]> {
  const rows = await ownRows(db, providerId, author);
  return rows.map(({ node_name: nodeName, uid, generation }) => ({ nodeName, uid, generation }));
}

interface Write extends RowsWrite {
  /** Key: node name. */
  readonly hashes: ReadonlyMap<string, string>;
  readonly bases: RemovalBases;
  readonly moved: ReadonlySet<string>;
  readonly at: string;
}

type Row = Pick<NodeConfigTable, 'node_name' | 'uid' | 'generation' | 'seen_hash'>;

async function ownRows(
  db: Database,
  providerId: string,
  author: Pick<Author, 'namespace' | 'name'>,
): Promise<Row[]> {
  return db
    .selectFrom('node_config')
    .select(['node_name', 'uid', 'generation', 'seen_hash'])
    .where('provider_id', '=', providerId)
    .where('cr_namespace', '=', author.namespace)
    .where('cr_name', '=', author.name)
    .orderBy('node_name')
    .execute();
}

// Every spec change raises the generation, hence unchanged rows need no spec hash.
function isCurrent(
  row: Row | undefined,
  { uid, generation }: StoredNode,
  hash: string | undefined,
): boolean {
  return row?.uid === uid && row.generation === generation && row.seen_hash === hash;
}

async function writeNodes(write: Write, nodes: readonly StoredNode[]): Promise<void> {
  const before = await readRows(
    write,
    nodes.map(({ nodeName }) => nodeName),
  );
  const rows = nodes.map((node) => rowOf(write, node, before.get(node.nodeName)));
  await write.tx.replaceInto('node_config').values(rows).execute();
  await writeRows(
    write,
    nodes.map((node) => ({ before: before.get(node.nodeName), node })),
  );
  const delivered = rows.map(({ instance_id, config }) => ({ instance_id, config }));
  await storeNics(
    write.tx,
    delivered.map((row) => ({ ...row, updated_at: write.at })),
  );
  const changes = nodes.flatMap((node) => {
    const entries = entriesOf(before.get(node.nodeName));
    return logRows(write, node, changesBetween(entries, node.interfaces));
  });
  await log(write, changes);
}

function rowOf(
  { providerId, author, at, hashes }: Write,
  { nodeName, instanceId, interfaces, uid, generation }: StoredNode,
  before: NodeConfigTable | undefined,
): NodeConfigTable {
  const hash = specHash({ nodeName, instanceId, interfaces: [...interfaces] });
  return {
    provider_id: providerId,
    node_name: nodeName,
    instance_id: instanceId,
    config: JSON.stringify({ nodeName, instanceId, interfaces }),
    hash,
    uid,
    generation,
    cr_namespace: author.namespace,
    cr_name: author.name,
    updated_at: before?.hash === hash ? before.updated_at : at,
    interface_count: interfaces.length,
    seen_hash: hashes.get(nodeName) ?? '',
  };
}

/** Removes only rows the author still owns: a paused former leader may still run beside the current leader. */
async function removeNodes(write: Write, gone: readonly Row[]): Promise<void> {
  const { author } = write;
  const found = await readRows(
    write,
    gone.map(({ node_name }) => node_name),
  );
  const before = new Map([...found].filter(([, row]) => isBy(author, row)));
  const names = [...before.keys()];
  if (names.length === 0) return;
  await write.tx
    .deleteFrom('node_config')
    .where('provider_id', '=', write.providerId)
    .where('node_name', 'in', names)
    .execute();
  await writeRows(
    write,
    [...before.values()].map((row) => ({ before: row, node: undefined })),
  );
  const changes = [...before.values()]
    .filter(({ uid }) => !write.moved.has(uid))
    .flatMap((row) => {
      const node = { nodeName: row.node_name, instanceId: row.instance_id };
      return logRows(write, node, changesBetween(entriesOf(row), []));
    });
  await log(write, changes);
}

function isBy({ namespace, name }: Author, { cr_namespace, cr_name }: NodeConfigTable): boolean {
  return cr_namespace === namespace && cr_name === name;
}

async function readRows({ tx, providerId }: Write, names: readonly string[]) {
  const rows = await tx
    .selectFrom('node_config')
    .selectAll()
    .where('provider_id', '=', providerId)
    .where('node_name', 'in', names)
    .execute();
  return new Map(rows.map((row) => [row.node_name, row]));
}

function entriesOf(row: NodeConfigTable | undefined): readonly InterfaceSpec[] {
  return row ? toRecord(row).config.interfaces : [];
}

type LogRow = Omit<ChangeLogTable, 'id'>;

async function log({ tx }: Write, rows: readonly LogRow[]): Promise<void> {
  for (const some of batches(rows)) await tx.insertInto('change_log').values(some).execute();
}

function logRows(
  { providerId, author, at, bases }: Write,
  { nodeName, instanceId }: Pick<StoredNode, 'nodeName' | 'instanceId'>,
  changes: readonly Change[],
): LogRow[] {
  const about = { at, provider_id: providerId, node_name: nodeName, instance_id: instanceId };
  const by = {
    cr_namespace: author.namespace,
    cr_name: author.name,
    cr_generation: author.generation,
  };
  const basisOf = ({ change, entry }: Change) =>
    change === 'removed' ? (bases.get(nodeName)?.get(entry.macAddress.toLowerCase()) ?? '') : '';
  return changes.map((change) => ({
    ...about,
    ...by,
    ...changeColumns(change),
    basis: basisOf(change),
  }));
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

/** Maximum rows in the change log: years in a normal cluster, tens of megabytes. */
const maxLogRows = 100_000;

async function prune(tx: Transaction<Tables>): Promise<void> {
  const newest = await tx
    .selectFrom('change_log')
    .select(({ fn }) => fn.max('id').as('id'))
    .executeTakeFirst();
  const last = (newest?.id ?? 0) - maxLogRows;
  if (last > 0) await tx.deleteFrom('change_log').where('id', '<=', last).execute();
}
