import { type RawBuilder, sql } from 'kysely';
import type { Database } from './database.ts';
import { columnTypes, type Engine } from './dialect.ts';

interface Column {
  readonly name: string;
  readonly type: RawBuilder<unknown>;
  /** Whether it may be empty, and what it is when a writer leaves it out. */
  readonly rule: RawBuilder<unknown>;
  /** The deployed system does not have it. */
  readonly isOwn: boolean;
}

interface Table {
  readonly name: string;
  readonly columns: readonly Column[];
  /** What there is one row of. */
  readonly unique: readonly string[];
  readonly index?: readonly string[];
}

/** A table has the name of one of the deployed system and not its columns: whose it is nobody knows. */
export class ForeignTable extends Error {
  override readonly name = 'ForeignTable';
}

/**
 * The tables of the deployed system under their names, for who reads them with SQL. Those that a deployed operator left in
 * the same MariaDB are taken over with their rows: columns that are missing are added, and its keys, for which a server
 * that was built again under its old name was an error, give way to ours. Throws ForeignTable. Can be made again.
 */
export async function createLegacyTables(db: Database, engine: Engine): Promise<void> {
  const tables = deployedTables(engine);
  const found = new Map<string, readonly string[]>();
  for (const { name, columns } of tables) {
    const there = await columnsOf(db, name);
    refuseForeign(
      name,
      columns.filter(({ isOwn }) => !isOwn),
      there,
    );
    found.set(name, there);
  }
  // Its tables refer to each other, so that no key can be changed while one of them does.
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
/** Rows of the deployed operator do not name it. */
const own = sql`not null default ''`;

function column(name: string, type: RawBuilder<unknown>, rule: RawBuilder<unknown>): Column {
  return { name, type, rule, isOwn: rule === own };
}

function deployedTables(engine: Engine): readonly Table[] {
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

/** Columns of a table, none when there is no such table. */
export async function columnsOf(db: Database, table: string): Promise<readonly string[]> {
  const tables = await db.introspection.getTables();
  const columns = tables.find(({ name }) => name === table)?.columns ?? [];
  return columns.map(({ name }) => name);
}

function refuseForeign(table: string, columns: readonly Column[], there: readonly string[]): void {
  if (there.length === 0) return;
  const missing = ['id', ...columns.map(({ name }) => name)].filter(
    (name) => !there.includes(name),
  );
  if (missing.length > 0) throw foreign(table, missing.join(', '));
}

function foreign(table: string, missing: string): ForeignTable {
  return new ForeignTable(
    `the table ${table} is neither ours nor that of the deployed operator, it lacks ${missing}: rename it, or give the inventory a database of its own (DB_NAME)`,
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

/** Our key is made last, so that a table which has it needs nothing more. */
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

/** One statement, which MariaDB does as a whole or not at all. */
async function takeOver(db: Database, table: Table, there: readonly string[]): Promise<void> {
  const keys = await uniqueKeys(db, table.name);
  const changes = [
    ...keys.map((name) => sql`drop index ${sql.ref(name)}`),
    ...table.columns.map((one) => {
      const verb = there.includes(one.name) ? sql`modify column` : sql`add column`;
      return sql`${verb} ${definition(one)}`;
    }),
    sql`add unique index ${sql.ref(keyName(table))} (${names(table.unique)})`,
    // Keys as long as ours are not possible in the form that a table of an old MariaDB may have.
    sql`row_format = dynamic`,
  ];
  await sql`alter table ${sql.table(table.name)} ${sql.join(changes)}`.execute(db);
}
