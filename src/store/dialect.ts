// The only file that knows in what the databases differ.
import { DatabaseSync, type SQLInputValue } from 'node:sqlite';
import { type Dialect, MysqlDialect, type SqliteDatabase, SqliteDialect, sql } from 'kysely';
import type { MariadbAccess } from './mariadb-access.ts';

export type Engine = 'sqlite' | 'mariadb';

/** Dialect of one SQLite file. */
export function sqliteDialect(path: string): Dialect {
  return new SqliteDialect({ database: async () => nodeSqlite(path) });
}

/** Dialect of a MariaDB with a pool of its own. */
export function mariadbDialect(access: MariadbAccess): Dialect {
  return new MysqlDialect({
    pool: async () => (await import('./mariadb-pool.ts')).mariadbPool(access),
  });
}

/** Milliseconds that another process may hold the file; whoever waits for it here holds up everything else of this one. */
const lockedMs = 500;

/** Presents node:sqlite through the small surface that Kysely asks for. */
function nodeSqlite(path: string): SqliteDatabase {
  const db = new DatabaseSync(path, { timeout: lockedMs });
  // WAL: readers never wait for the writer. NORMAL: a power cut may lose the last commits, and the store is a cache. MEMORY:
  // large sorts and what a statement of many rows may have to take back; no other folder of a Pod can be written.
  db.exec('PRAGMA journal_mode=WAL; PRAGMA synchronous=NORMAL; PRAGMA temp_store=MEMORY');
  return {
    close: () => db.close(),
    prepare(text) {
      // A full volume has ended the transaction by itself: that nothing is left to roll back would be told in its place.
      const isOver = text === 'rollback' && !db.isTransaction;
      // Every transaction writes. One that begins by reading fails at once when another process writes; this one waits.
      const begins = text === 'begin';
      const statement = db.prepare(isOver ? 'SELECT 1 WHERE 0' : begins ? 'begin immediate' : text);
      return {
        reader: statement.columns().length > 0,
        all: (parameters) => statement.all(...values(parameters)),
        run: (parameters) => statement.run(...values(parameters)),
        iterate: (parameters) => statement.iterate(...values(parameters)),
      };
    },
  };
}

/** Kysely passes what the column types allow, and that is what SQLite takes. */
function values(parameters: readonly unknown[]): SQLInputValue[] {
  return parameters as SQLInputValue[];
}

/** Throws when the file is not a sound SQLite database. */
export function checkSqlite(path: string): void {
  const db = new DatabaseSync(path);
  try {
    const [row] = db.prepare('PRAGMA quick_check(1)').all();
    const said = Object.values(row ?? {})[0];
    if (said !== 'ok') throw new CorruptDatabase(String(said));
  } finally {
    db.close();
  }
}

class CorruptDatabase extends Error {}

// https://www.sqlite.org/rescode.html: SQLITE_CORRUPT and SQLITE_NOTADB; the low byte is the primary code.
const corruptCodes: readonly number[] = [11, 26];

/** Whether the error says that the file itself is damaged, which no retry repairs. */
export function isCorrupt(error: unknown): boolean {
  if (error instanceof CorruptDatabase) return true;
  const code = (error as { readonly errcode?: unknown } | undefined)?.errcode;
  return typeof code === 'number' && corruptCodes.includes(code & 0xff);
}

/** Column types of the tables. */
export function columnTypes(engine: Engine) {
  return {
    /** Text that is compared byte by byte: MariaDB's default ignores case and trailing blanks. */
    key: (length: number) =>
      engine === 'sqlite'
        ? sql.raw(`varchar(${length})`)
        : sql.raw(`varchar(${length}) character set utf8mb4 collate utf8mb4_nopad_bin`),
    /** JSON of a node; MariaDB's `text` ends at 64 KiB. */
    document: engine === 'sqlite' ? sql`text` : sql`mediumtext character set utf8mb4`,
    /** A row number that the database counts up. */
    serial: engine === 'sqlite' ? sql`integer` : sql`bigint`,
    /** A time as `sqlTime` writes it, in UTC: a type that MariaDB does not move with the zone of who reads it. */
    time: engine === 'sqlite' ? sql`text` : sql`datetime(3)`,
  };
}

/** How the database says how many elements the array `interfaces` of a JSON text has. */
export function countInterfaces(engine: Engine) {
  const count = engine === 'sqlite' ? 'json_array_length' : 'json_length';
  return sql<number>`coalesce(${sql.raw(count)}(config, '$.interfaces'), 0)`;
}

// https://mariadb.com/kb/en/mariadb-error-code-reference/: a deadlock, and a row that has changed since the transaction began.
const conflictNumbers: readonly number[] = [1213, 1020];

/** Whether a transaction was taken back only because another one was under way: it can be made again at once. */
export function isConflict(error: unknown): boolean {
  const number = (error as { readonly errno?: unknown } | undefined)?.errno;
  return typeof number === 'number' && conflictNumbers.includes(number);
}
