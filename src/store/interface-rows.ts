import type { Insertable, Selectable, Transaction } from 'kysely';
import type { InterfaceSpec } from '../api/multinicnodeconfig.ts';
import { isSameJson } from '../api/same-json.ts';
import { batches } from './batches.ts';
import type { InterfaceTable, NodeConfigTable, Tables } from './database.ts';
import { type Author, type StoredNode, toRecord } from './node-configs.ts';
import { columnText, type ObservedPorts, sqlTime, sqlTimeOf } from './observed-ports.ts';
import { type NodeChange, writeServers } from './server-rows.ts';

/** What is written, and by whom. */
export interface RowsWrite {
  readonly tx: Transaction<Tables>;
  readonly providerId: string;
  readonly author: Author;
  readonly sighting: ObservedPorts;
  readonly now: Date;
  /** Subnets that a NIC was in and is no longer: filled while rows are written. */
  readonly leftSubnets: Set<string>;
}

type Row = Selectable<InterfaceTable>;

/**
 * Notes what changed of these nodes in the tables of the deployed system: a row for each NIC with a port, and for each
 * server. What is gone is marked deleted; what comes back is the same row again. A row of the deployed system gives way.
 */
export async function writeRows(write: RowsWrite, changes: readonly NodeChange[]): Promise<void> {
  await writeServers(write, changes);
  const wanted = wantedPorts(changes);
  const left = changes.flatMap(({ before }) => leftBy(before, wanted));
  const rows = await rowsOf(write, [...wanted.keys(), ...left.map(({ portId }) => portId)]);
  const next = [...deletedRows(write, left, rows), ...changedRows(write, wanted, rows)];
  await dropDeployed(write, [...wanted.keys()]);
  // Rows that are there keep their number.
  for (const some of batches(next, rowsAtOnce)) {
    await write.tx.replaceInto('multi_interface').values(some).execute();
  }
  for (const id of subnetsLeft(next, rows)) write.leftSubnets.add(id);
}

const rowsAtOnce = 200;
const idsAtOnce = 500;

interface WantedPort {
  readonly node: StoredNode;
  readonly entry: InterfaceSpec;
}

/** By port id in lower case. */
type WantedPorts = ReadonlyMap<string, WantedPort>;
type Rows = ReadonlyMap<string, Row>;

function wantedPorts(changes: readonly NodeChange[]): WantedPorts {
  const wanted = new Map<string, WantedPort>();
  for (const { node } of changes) {
    if (node === undefined) continue;
    for (const entry of node.interfaces) {
      if (entry.portId) wanted.set(entry.portId.toLowerCase(), { node, entry });
    }
  }
  return wanted;
}

interface LeftPort {
  readonly portId: string;
  readonly nodeName: string;
}

/** Ports that a node had and no longer has. */
function leftBy(before: NodeConfigTable | undefined, wanted: WantedPorts): LeftPort[] {
  if (before === undefined) return [];
  const { nodeName, config } = toRecord(before);
  const ids = config.interfaces.flatMap(({ portId }) => portId?.toLowerCase() ?? []);
  return ids.filter((id) => !wanted.has(id)).map((portId) => ({ portId, nodeName }));
}

function deletedRows({ now }: RowsWrite, left: readonly LeftPort[], rows: Rows) {
  const at = sqlTime(now);
  return left.flatMap(({ portId, nodeName }) => {
    const row = rows.get(portId);
    // It may have come to another node meanwhile, by whoever that belongs to.
    if (!row || row.deleted_at !== null || row.attached_node_name !== nodeName) return [];
    return [{ ...row, status: 'deleted', deleted_at: at, modified_at: at }];
  });
}

function changedRows(write: RowsWrite, wanted: WantedPorts, rows: Rows) {
  return [...wanted].flatMap(([id, port]): Insertable<InterfaceTable>[] => {
    const row = rows.get(id);
    const columns = { ...deliveredColumns(write, port), ...seenColumns(write, id, row) };
    if (row && isSameJson({ ...row, ...columns }, row)) return [];
    return [{ ...(row ? { id: row.id } : {}), ...columns, modified_at: sqlTime(write.now) }];
  });
}

function deliveredColumns({ providerId, author }: RowsWrite, { node, entry }: WantedPort) {
  return {
    provider_id: providerId,
    subnet_id: columnText(entry.subnetId ?? '', 64),
    network_id: columnText(entry.networkId ?? '', 64),
    macaddress: entry.macAddress.toLowerCase(),
    attached_node_id: node.instanceId,
    attached_node_name: node.nodeName,
    cr_namespace: author.namespace,
    cr_name: author.name,
    status: 'active',
    deleted_at: null,
  };
}

/** What was not seen stays as it is noted. */
function seenColumns({ sighting, now }: RowsWrite, id: string, row: Row | undefined) {
  const netplanSuccess = sighting.configured.has(id) ? 1 : 0;
  const port = sighting.ports.get(id);
  const created = row?.created_at ?? sqlTime(now);
  const about = { port_id: id, netplan_success: netplanSuccess };
  if (port === undefined) {
    const { port_status = '', addresses = '' } = row ?? {};
    return { ...about, port_status, addresses, created_at: created };
  }
  return {
    ...about,
    port_status: columnText(port.status, 32),
    addresses: JSON.stringify(port.addresses),
    created_at: sqlTimeOf(port.createdAt) ?? created,
  };
}

async function rowsOf({ tx, providerId }: RowsWrite, ids: readonly string[]) {
  const rows: Row[] = [];
  for (const some of batches(ids, idsAtOnce)) {
    const found = await tx
      .selectFrom('multi_interface')
      .selectAll()
      .where('provider_id', '=', providerId)
      .where('port_id', 'in', some)
      .execute();
    rows.push(...found);
  }
  return new Map(rows.map((row) => [row.port_id, row]));
}

/** Rows of the deployed operator, which knows no business cluster, for ports that are delivered by us now. */
async function dropDeployed({ tx, providerId }: RowsWrite, ids: readonly string[]): Promise<void> {
  if (providerId === '') return;
  for (const some of batches(ids, idsAtOnce)) {
    await tx
      .deleteFrom('multi_interface')
      .where('provider_id', '=', '')
      .where('port_id', 'in', some)
      .execute();
  }
}

/** Subnets that rows were in and are no longer. */
function subnetsLeft(next: readonly Insertable<InterfaceTable>[], before: Rows): string[] {
  const left = next.flatMap((row) => {
    const was = before.get(row.port_id);
    const isIn = row.deleted_at === null && row.subnet_id === was?.subnet_id;
    return was && was.deleted_at === null && !isIn ? [was.subnet_id] : [];
  });
  return [...new Set(left)];
}
