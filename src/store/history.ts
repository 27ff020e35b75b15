import type { InventoryChange } from '../api/inventory-http.ts';
import { removalBasis } from '../api/removals.ts';
import type { ChangeLogTable, Database } from './database.ts';

export interface HistoryFilter {
  readonly providerId?: string | undefined;
  /** Changes in these business clusters only; undefined: in all. */
  readonly providers?: readonly string[] | undefined;
  readonly nodeName?: string | undefined;
  readonly portId?: string | undefined;
  /** Changes at or after this time. */
  readonly since?: Date | undefined;
  readonly limit: number;
  /** Changes with a lower number. */
  readonly before?: number | undefined;
}

/** A change with the log number. */
export interface NumberedChange {
  readonly id: number;
  readonly change: InventoryChange;
}

/** Returns NIC changes, newest first. */
export async function listChanges(db: Database, filter: HistoryFilter): Promise<NumberedChange[]> {
  const { providerId, providers, nodeName, portId, since, limit, before } = filter;
  if (providers?.length === 0) return [];
  const rows = await db
    .selectFrom('change_log')
    .selectAll()
    .$if(providerId !== undefined, (q) => q.where('provider_id', '=', providerId ?? ''))
    .$if(providers !== undefined, (q) => q.where('provider_id', 'in', providers ?? []))
    .$if(nodeName !== undefined, (q) => q.where('node_name', '=', nodeName ?? ''))
    .$if(portId !== undefined, (q) => q.where('port_id', '=', portId ?? ''))
    .$if(since !== undefined, (q) => q.where('at', '>=', since?.toISOString() ?? ''))
    .$if(before !== undefined, (q) => q.where('id', '<', before ?? 0))
    .orderBy('id', 'desc')
    .limit(limit)
    .execute();
  return rows.map((row) => ({ id: row.id, change: changeOf(row) }));
}

/** Returns the oldest logged change's time in these business clusters; undefined: none. */
export async function oldestChange(
  db: Database,
  providers: readonly string[] | undefined,
): Promise<string | undefined> {
  if (providers?.length === 0) return undefined;
  const row = await db
    .selectFrom('change_log')
    .select('at')
    .$if(providers !== undefined, (q) => q.where('provider_id', 'in', providers ?? []))
    .orderBy('id', 'asc')
    .limit(1)
    .executeTakeFirst();
  return row?.at;
}

type Row = Omit<ChangeLogTable, 'id'> & { readonly id: number };

function changeOf(row: Row): InventoryChange {
  // A basis of a later release stays absent.
  const basis = removalBasis.safeParse(row.basis).data;
  return {
    at: row.at,
    providerId: row.provider_id,
    nodeName: row.node_name,
    instanceId: row.instance_id,
    change: row.change as InventoryChange['change'],
    ...(basis && { basis }),
    name: row.name,
    portId: row.port_id,
    macAddress: row.mac_address,
    ...(row.before_entry === '' ? {} : { before: entryIn(row.before_entry) }),
    ...(row.after_entry === '' ? {} : { after: entryIn(row.after_entry) }),
    openstackConfig: {
      namespace: row.cr_namespace,
      name: row.cr_name,
      generation: row.cr_generation,
    },
  };
}

function entryIn(text: string): InventoryChange['before'] {
  return JSON.parse(text) as InventoryChange['before'];
}
