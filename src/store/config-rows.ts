import type { Transaction } from 'kysely';
import type { Database, Tables } from './database.ts';
import type { Author } from './node-configs.ts';
import { type ObservedPorts, sqlTime } from './observed-ports.ts';

/** Returns true if no row, or a row with another spec hash, exists for this OpenstackConfig. */
export async function isNewConfig(
  db: Database,
  author: Pick<Author, 'namespace' | 'name'>,
  { specHash }: ObservedPorts,
): Promise<boolean> {
  if (specHash === '') return false;
  const row = await configRow(db, author);
  return row?.spec_hash !== specHash;
}

/** Writes the spec hash for an OpenstackConfig. */
export async function writeConfig(write: {
  readonly tx: Transaction<Tables>;
  readonly author: Author;
  readonly sighting: ObservedPorts;
  readonly now: Date;
}): Promise<void> {
  const { tx, author, sighting, now } = write;
  const before = await configRow(tx, author);
  await tx
    .replaceInto('cr_state')
    .values({
      ...(before ? { id: before.id } : {}),
      cr_namespace: author.namespace,
      cr_name: author.name,
      spec_hash: sighting.specHash,
      last_updated: sqlTime(now),
    })
    .execute();
}

/** Deletes the row when the OpenstackConfig is deleted. */
export async function forgetConfig(
  db: Database,
  { namespace, name }: Pick<Author, 'namespace' | 'name'>,
): Promise<void> {
  await db
    .deleteFrom('cr_state')
    .where('cr_namespace', '=', namespace)
    .where('cr_name', '=', name)
    .execute();
}

/** Returns an OpenstackConfig's row; undefined: none. */
export async function configRow(
  db: Pick<Database, 'selectFrom'>,
  { namespace, name }: Pick<Author, 'namespace' | 'name'>,
) {
  return db
    .selectFrom('cr_state')
    .select(['id', 'spec_hash'])
    .where('cr_namespace', '=', namespace)
    .where('cr_name', '=', name)
    .executeTakeFirst();
}
