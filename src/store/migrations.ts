import { sql } from 'kysely';
import { type Migration, Migrator } from 'kysely/migration';
import type { Database } from './database.ts';
import { columnTypes, countInterfaces, type Engine } from './dialect.ts';
import { columnsOf, createLegacyTables } from './legacy-tables.ts';

/**
 * Applies all pending migrations; throws the first failing migration's error. Tables from a later release are
 * accepted: migrations only add to tables, because a rollback to the previous release must work.
 */
export async function migrate(db: Database, engine: Engine): Promise<void> {
  const own = migrationsOf(engine);
  const migrations = { ...own, ...(await laterMigrations(db, Object.keys(own))) };
  const migrator = new Migrator({
    db,
    provider: { getMigrations: async () => migrations },
    migrationTableName: 'migrations',
    migrationLockTableName: 'migrations_lock',
  });
  const { error } = await migrator.migrateToLatest();
  if (error !== undefined) throw error;
}

/** Returns the applied migrations from a later release, which the migrator must know by name. */
async function laterMigrations(
  db: Database,
  own: readonly string[],
): Promise<Record<string, Migration>> {
  const last = own.toSorted().at(-1) ?? '';
  if ((await columnsOf(db, 'migrations')).length === 0) return {};
  const { rows } = await sql<{ name: string }>`select name from migrations`.execute(db);
  const later = rows.map(({ name }) => name).filter((name) => name > last);
  return Object.fromEntries(later.map((name) => [name, { up: async () => undefined }]));
}

/**
 * Returns every migration by name; names and results never change. Each migration is idempotent: MariaDB has no
 * transactional DDL, and a killed migration leaves partial results.
 */
function migrationsOf(engine: Engine): Record<string, Migration> {
  const types = columnTypes(engine);
  return {
    '0001-node-config': nodeConfig(types),
    '0002-change-log': changeLog(types),
    '0003-server-nics': serverNics(types),
    '0004-deployed-tables': legacyTables(types, engine),
    '0005-removal-basis': removalBasis(types),
  };
}

type ColumnTypes = ReturnType<typeof columnTypes>;

function nodeConfig({ key, document }: ColumnTypes): Migration {
  return {
    async up(db) {
      await db.schema
        .createTable('node_config')
        .ifNotExists()
        .addColumn('provider_id', key(253), (column) => column.notNull())
        .addColumn('node_name', key(253), (column) => column.notNull())
        .addColumn('instance_id', key(64), (column) => column.notNull())
        .addColumn('config', document, (column) => column.notNull())
        .addColumn('hash', key(64), (column) => column.notNull())
        .addColumn('uid', key(64), (column) => column.notNull())
        .addColumn('generation', 'integer', (column) => column.notNull())
        .addColumn('cr_namespace', key(63), (column) => column.notNull())
        .addColumn('cr_name', key(253), (column) => column.notNull())
        .addColumn('updated_at', key(30), (column) => column.notNull())
        .addPrimaryKeyConstraint('node_config_pk', ['provider_id', 'node_name'])
        .execute();
      await db.schema
        .createIndex('node_config_instance')
        .ifNotExists()
        .on('node_config')
        .column('instance_id')
        .execute();
      await db.schema
        .createIndex('node_config_cr')
        .ifNotExists()
        .on('node_config')
        .columns(['cr_namespace', 'cr_name'])
        .execute();
    },
  };
}

function changeLog({ key, document, serial }: ColumnTypes): Migration {
  return {
    async up(db) {
      await db.schema
        .createTable('change_log')
        .ifNotExists()
        .addColumn('id', serial, (column) => column.primaryKey().autoIncrement())
        .addColumn('at', key(30), (column) => column.notNull())
        .addColumn('provider_id', key(253), (column) => column.notNull())
        .addColumn('node_name', key(253), (column) => column.notNull())
        .addColumn('instance_id', key(64), (column) => column.notNull())
        .addColumn('change', key(16), (column) => column.notNull())
        .addColumn('name', key(16), (column) => column.notNull())
        .addColumn('port_id', key(64), (column) => column.notNull())
        .addColumn('mac_address', key(17), (column) => column.notNull())
        .addColumn('before_entry', document, (column) => column.notNull())
        .addColumn('after_entry', document, (column) => column.notNull())
        .addColumn('cr_namespace', key(63), (column) => column.notNull())
        .addColumn('cr_name', key(253), (column) => column.notNull())
        .addColumn('cr_generation', 'integer', (column) => column.notNull())
        .execute();
      await db.schema
        .createIndex('change_log_node')
        .ifNotExists()
        .on('change_log')
        .columns(['provider_id', 'node_name'])
        .execute();
    },
  };
}

function serverNics({ key, document }: ColumnTypes): Migration {
  return {
    async up(db: Database) {
      await db.schema
        .createTable('server_nics')
        .ifNotExists()
        .addColumn('instance_id', key(64), (column) => column.primaryKey())
        .addColumn('config', document, (column) => column.notNull())
        .addColumn('updated_at', key(30), (column) => column.notNull())
        .execute();
      // A server in two clusters is moving from one to the other: the last delivery counts.
      const delivered = db
        .selectFrom('node_config')
        .select(['instance_id', 'config', 'updated_at'])
        .orderBy('updated_at');
      await db
        .replaceInto('server_nics')
        .columns(['instance_id', 'config', 'updated_at'])
        .expression(delivered)
        .execute();
    },
  };
}

function legacyTables({ key }: ColumnTypes, engine: Engine): Migration {
  return {
    async up(db: Database) {
      await createLegacyTables(db, engine);
      const columns = await columnsOf(db, 'node_config');
      if (!columns.includes('seen_hash')) {
        await db.schema
          .alterTable('node_config')
          .addColumn('seen_hash', key(64), (column) => column.notNull().defaultTo(''))
          .execute();
      }
      if (!columns.includes('interface_count')) {
        await db.schema
          .alterTable('node_config')
          .addColumn('interface_count', 'integer', (column) => column.notNull().defaultTo(0))
          .execute();
      }
      // Idempotent: a previous run may have been killed before this statement.
      const count = countInterfaces(engine);
      await db.updateTable('node_config').set({ interface_count: count }).execute();
    },
  };
}

function removalBasis({ key }: ColumnTypes): Migration {
  return {
    async up(db: Database) {
      if ((await columnsOf(db, 'change_log')).includes('basis')) return;
      // The default lets an earlier release insert rows.
      await db.schema
        .alterTable('change_log')
        .addColumn('basis', key(16), (column) => column.notNull().defaultTo(''))
        .execute();
    },
  };
}
