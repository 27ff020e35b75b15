import type { Transaction } from 'kysely';
import type { Database, Tables } from './database.ts';
import type { Author } from './node-configs.ts';
import { type ObservedPorts, sqlTime } from './observed-ports.ts';

/** Whether an OpenstackConfig was looked at of which another content, or none, is noted. */
export async function isNewConfig(
  db: Database,
  author: Pick<Author, 'namespace' | 'name'>,
  { specHash }: ObservedPorts,
): Promise<boolean> {
  if (specHash === '') return false;
  const row = await configRow(db, author);
  return row?.spec_hash !== specHash;
}

/** Notes the content of an OpenstackConfig. */
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

/** Forgets an OpenstackConfig that is gone. */
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

async function configRow(
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
