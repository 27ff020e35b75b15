import type { Insertable, Selectable, Transaction } from 'kysely';
import { batches } from './batches.ts';
import type { Database, SubnetTable, Tables } from './database.ts';
import { columnText, type ObservedSubnet, sqlTime } from './observed-ports.ts';

/** What is written, and when. */
interface SubnetsWrite {
  readonly tx: Transaction<Tables>;
  readonly providerId: string;
  readonly now: Date;
}

const idsAtOnce = 500;

/** Those of which something else, or nothing, is noted. */
export async function newsOfSubnets(
  db: Pick<Database, 'selectFrom'>,
  providerId: string,
  seen: readonly ObservedSubnet[],
): Promise<ObservedSubnet[]> {
  const rows = await rowsOf(
    db,
    providerId,
    seen.map(({ id }) => id),
  );
  return seen.filter((subnet) => !isNoted(subnet, rows.get(subnet.id)));
}

/** Notes subnets as they were seen; one that was deleted is there again. */
export async function writeSubnets(
  write: SubnetsWrite,
  seen: readonly ObservedSubnet[],
): Promise<void> {
  const { tx, providerId } = write;
  const now = sqlTime(write.now);
  for (const some of batches(seen)) {
    const ids = some.map(({ id }) => id);
    await tx
      .deleteFrom('multi_subnet')
      .where('provider_id', '=', '')
      .where('subnet_id', 'in', ids)
      .execute();
    const before = await rowsOf(tx, providerId, ids);
    const rows = some.map((subnet): Insertable<SubnetTable> => {
      const row = before.get(subnet.id);
      return {
        ...(row ? { id: row.id } : {}),
        ...columnsOf(subnet, row),
        subnet_id: subnet.id,
        provider_id: providerId,
        status: 'active',
        created_at: row?.created_at ?? now,
        modified_at: now,
        deleted_at: null,
      };
    });
    // Rows that are there keep their number.
    await tx.replaceInto('multi_subnet').values(rows).execute();
  }
}

/** Marks subnets deleted that no NIC is in any more. */
export async function retireSubnets(write: SubnetsWrite, left: readonly string[]): Promise<void> {
  const { tx, providerId } = write;
  for (const ids of batches(left, idsAtOnce)) {
    const used = await tx
      .selectFrom('multi_interface')
      .select('subnet_id')
      .distinct()
      .where('provider_id', '=', providerId)
      .where('subnet_id', 'in', ids)
      .where('deleted_at', 'is', null)
      .execute();
    const inUse = new Set(used.map(({ subnet_id }) => subnet_id));
    const unused = ids.filter((id) => !inUse.has(id));
    const now = sqlTime(write.now);
    if (unused.length === 0) continue;
    await tx
      .updateTable('multi_subnet')
      .set({ status: 'deleted', deleted_at: now, modified_at: now })
      .where('provider_id', '=', providerId)
      .where('subnet_id', 'in', unused)
      .where('deleted_at', 'is', null)
      .execute();
  }
}

function isNoted(subnet: ObservedSubnet, row: Selectable<SubnetTable> | undefined): boolean {
  if (row === undefined || row.deleted_at !== null) return false;
  const columns = Object.entries(columnsOf(subnet, row));
  return columns.every(([name, value]) => row[name as keyof typeof row] === value);
}

function columnsOf(
  { name, cidr, networkId, networkName }: ObservedSubnet,
  row: Selectable<SubnetTable> | undefined,
) {
  return {
    subnet_name: columnText(name, 255),
    cidr: columnText(cidr, 255),
    network_id: columnText(networkId, 64),
    network_name: networkName === '' ? (row?.network_name ?? '') : columnText(networkName, 255),
  };
}

async function rowsOf(
  db: Pick<Database, 'selectFrom'>,
  providerId: string,
  ids: readonly string[],
): Promise<ReadonlyMap<string, Selectable<SubnetTable>>> {
  const rows: Selectable<SubnetTable>[] = [];
  for (const some of batches(ids, idsAtOnce)) {
    const found = await db
      .selectFrom('multi_subnet')
      .selectAll()
      .where('provider_id', '=', providerId)
      .where('subnet_id', 'in', some)
      .execute();
    rows.push(...found);
  }
  return new Map(rows.map((row) => [row.subnet_id, row]));
}
