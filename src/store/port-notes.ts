import type { InventoryRecord } from '../api/inventory-http.ts';
import { batches } from './batches.ts';
import type { Database } from './database.ts';
import { fromSqlTime } from './observed-ports.ts';

/** What was seen of a port; a field that is not known is absent. */
export interface PortNote {
  readonly subnetName?: string;
  readonly networkName?: string;
  readonly portStatus?: string;
  /** RFC 3339. */
  readonly createdAt?: string;
}

/** By business cluster and port id. */
export class PortNotes {
  readonly #notes = new Map<string, PortNote>();

  add(providerId: string, portId: string, note: PortNote): void {
    this.#notes.set(keyOf(providerId, portId), note);
  }

  of(providerId: string, portId: string | undefined): PortNote {
    return this.#notes.get(keyOf(providerId, portId ?? '')) ?? {};
  }
}

function keyOf(providerId: string, portId: string): string {
  return `${portId.toLowerCase()} ${providerId}`;
}

/** Ids in one statement. */
const idsAtOnce = 500;

/** What was seen of the ports of these records. */
export async function portNotes(
  db: Database,
  records: readonly InventoryRecord[],
): Promise<PortNotes> {
  const notes = new PortNotes();
  for (const [providerId, some] of Map.groupBy(records, (record) => record.providerId)) {
    const entries = some.flatMap(({ config }) => config.interfaces);
    const ids = entries.flatMap(({ portId }) => portId?.toLowerCase() ?? []);
    for (const few of batches(ids, idsAtOnce)) {
      for (const row of await rowsOf(db, providerId, few)) {
        notes.add(providerId, row.port_id, noteOf(row));
      }
    }
  }
  return notes;
}

type Row = Awaited<ReturnType<typeof rowsOf>>[number];

async function rowsOf(db: Database, providerId: string, ids: readonly string[]) {
  return db
    .selectFrom('multi_interface as nic')
    .leftJoin('multi_subnet as subnet', (join) =>
      join
        .onRef('subnet.provider_id', '=', 'nic.provider_id')
        .onRef('subnet.subnet_id', '=', 'nic.subnet_id'),
    )
    .select(['nic.port_id', 'nic.port_status', 'nic.created_at'])
    .select(['subnet.subnet_name', 'subnet.network_name'])
    .where('nic.provider_id', '=', providerId)
    .where('nic.port_id', 'in', ids)
    .execute();
}

function noteOf({ subnet_name, network_name, port_status, created_at }: Row): PortNote {
  return {
    ...(subnet_name ? { subnetName: subnet_name } : {}),
    ...(network_name ? { networkName: network_name } : {}),
    ...(port_status ? { portStatus: port_status } : {}),
    ...(created_at ? { createdAt: fromSqlTime(created_at) } : {}),
  };
}
