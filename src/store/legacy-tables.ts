import { type RawBuilder, sql } from 'kysely';
import type { Database } from './database.ts';
import { columnTypes, type Engine } from './dialect.ts';

interface Column {
  readonly name: string;
  readonly type: RawBuilder<unknown>;
  /** Null rule and default value in SQL. */
  readonly rule: RawBuilder<unknown>;
  /** The legacy system lacks this column. */
  readonly isOwn: boolean;
}

interface Table {
  readonly name: string;
  readonly columns: readonly Column[];
  /** Columns for the unique key. */
  readonly unique: readonly string[];
  readonly index?: readonly string[];
}

/** A table with a legacy name but without the legacy columns: its owner is unknown. */
class ForeignTable extends Error {
  override readonly name = 'ForeignTable';
}

/**
 * Creates the legacy tables under their old names, for users reading them with SQL. In MariaDB, existing legacy
 * tables keep their rows: missing columns are added and our keys replace the old ones. With the old keys a rebuilt
 * server under the same name was an error. Throws ForeignTable. Idempotent.
 */
export async function createLegacyTables(db: Database, engine: Engine): Promise<void> {
  const tables = legacyTables(engine);
  const found = new Map<string, readonly string[]>();
  for (const { name, columns } of tables) {
    const existing = await columnsOf(db, name);
    refuseForeign(
      name,
      columns.filter(({ isOwn }) => !isOwn),
      existing,
    );
    found.set(name, existing);
  }
  // Legacy tables have foreign keys to each other, and these block key changes.
  if (engine === 'mariadb') await dropReferences(db, tables);
  for (const table of tables) {
    const columns = found.get(table.name) ?? [];
    if (columns.length === 0) await create(db, table, engine);
    else if (engine === 'mariadb' && !(await hasKey(db, table))) await takeOver(db, table, columns);
    else refuseForeign(table.name, table.columns, columns);
    if (table.index) {
      await db.schema
        .createIndex(indexName(table))
        .ifNotExists()
        .on(table.name)
        .columns([...table.index])
        .execute();
    }
  }
}

const required = sql`not null`;
const optional = sql`null default null`;
/** Column unknown to the legacy operator; rows without a value get ''. */
const own = sql`not null default ''`;

function column(name: string, type: RawBuilder<unknown>, rule: RawBuilder<unknown>): Column {
  return { name, type, rule, isOwn: rule === own };
}

function legacyTables(engine: Engine): readonly Table[] {
  const { key, document, time } = columnTypes(engine);
  const lifecycle = [
    column('status', key(50), sql`null default 'active'`),
    column('created_at', time, optional),
    column('modified_at', time, optional),
    column('deleted_at', time, optional),
    column('provider_id', key(253), own),
  ];
  return [
    {
      name: 'multi_subnet',
      columns: [
        column('subnet_id', key(64), required),
        column('subnet_name', key(255), required),
        column('cidr', key(255), required),
        column('network_id', key(64), required),
        ...lifecycle,
        column('network_name', key(255), own),
      ],
      unique: ['provider_id', 'subnet_id'],
    },
    {
      name: 'node_table',
      columns: [
        column('attached_node_id', key(64), required),
        column('attached_node_name', key(255), required),
        ...lifecycle,
      ],
      unique: ['provider_id', 'attached_node_id'],
      index: ['attached_node_name'],
    },
    {
      name: 'multi_interface',
      columns: [
        column('port_id', key(64), required),
        column('subnet_id', key(64), required),
        column('macaddress', key(17), required),
        column('attached_node_id', key(64), optional),
        column('attached_node_name', key(255), optional),
        column('cr_namespace', key(255), required),
        column('cr_name', key(255), required),
        column('netplan_success', sql`tinyint(1)`, sql`not null default 0`),
        ...lifecycle,
        column('network_id', key(64), own),
        column('port_status', key(32), own),
        column('addresses', document, own),
      ],
      unique: ['provider_id', 'port_id'],
      index: ['attached_node_name'],
    },
    {
      name: 'cr_state',
      columns: [
        column('cr_namespace', key(255), required),
        column('cr_name', key(255), required),
        column('spec_hash', key(64), required),
        column('last_updated', time, optional),
      ],
      unique: ['cr_namespace', 'cr_name'],
    },
  ];
}

/** Returns the table's columns; empty if no such table exists. */
export async function columnsOf(db: Database, table: string): Promise<readonly string[]> {
  const tables = await db.introspection.getTables();
  const columns = tables.find(({ name }) => name === table)?.columns ?? [];
  return columns.map(({ name }) => name);
}

function refuseForeign(
  table: string,
  columns: readonly Column[],
  existing: readonly string[],
): void {
  if (existing.length === 0) return;
  const missing = ['id', ...columns.map(({ name }) => name)].filter(
    (name) => !existing.includes(name),
  );
  if (missing.length > 0) throw foreign(table, missing.join(', '));
}

function foreign(table: string, missing: string): ForeignTable {
  return new ForeignTable(
    `table ${table} belongs to neither MultiNIC nor the legacy operator, as it lacks ${missing}: rename it, or give the inventory its own database (DB_NAME)`,
  );
}

async function create(db: Database, table: Table, engine: Engine): Promise<void> {
  const { serial } = columnTypes(engine);
  const counts = engine === 'sqlite' ? sql`autoincrement` : sql`auto_increment`;
  const parts = [
    sql`id ${serial} primary key ${counts}`,
    ...table.columns.map(definition),
    sql`constraint ${sql.ref(keyName(table))} unique (${names(table.unique)})`,
  ];
  await sql`create table if not exists ${sql.table(table.name)} (${sql.join(parts)})`.execute(db);
}

function definition({ name, type, rule }: Column) {
  return sql`${sql.ref(name)} ${type} ${rule}`;
}

function names(columns: readonly string[]) {
  return sql.join(columns.map((name) => sql.ref(name)));
}

const keyName = ({ name }: Table) => `${name}_key`;
const indexName = ({ name }: Table) => `${name}_name`;

/** Returns true for finished tables: our key is created last. */
async function hasKey(db: Database, table: Table): Promise<boolean> {
  return (await uniqueKeys(db, table.name)).includes(keyName(table));
}

async function uniqueKeys(db: Database, table: string): Promise<string[]> {
  const { rows } = await sql<{ name: string }>`
    select distinct index_name as name from information_schema.statistics
    where table_schema = database() and table_name = ${table} and non_unique = 0 and index_name <> 'PRIMARY'
  `.execute(db);
  return rows.map(({ name }) => name);
}

async function dropReferences(db: Database, tables: readonly Table[]): Promise<void> {
  const { rows } = await sql<{ child: string; name: string }>`
    select table_name as child, constraint_name as name from information_schema.referential_constraints
    where constraint_schema = database() and table_name in (${sql.join(tables.map(({ name }) => name))})
  `.execute(db);
  for (const { child, name } of rows) {
    await sql`alter table ${sql.table(child)} drop foreign key ${sql.ref(name)}`.execute(db);
  }
}

/** Takes over a legacy table in one statement, atomic in MariaDB. */
async function takeOver(db: Database, table: Table, existing: readonly string[]): Promise<void> {
  const keys = await uniqueKeys(db, table.name);
  const changes = [
    ...keys.map((name) => sql`drop index ${sql.ref(name)}`),
    ...table.columns.map((one) => {
      const verb = existing.includes(one.name) ? sql`modify column` : sql`add column`;
      return sql`${verb} ${definition(one)}`;
    }),
    sql`add unique index ${sql.ref(keyName(table))} (${names(table.unique)})`,
    // The row format in old MariaDB tables is too small for our key lengths.
    sql`row_format = dynamic`,
  ];
  await sql`alter table ${sql.table(table.name)} ${sql.join(changes)}`.execute(db);
}
