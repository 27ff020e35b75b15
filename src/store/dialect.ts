// The only file with differences between the databases.
import { DatabaseSync, type SQLInputValue } from 'node:sqlite';
import { type Dialect, MysqlDialect, type SqliteDatabase, SqliteDialect, sql } from 'kysely';
import type { MariadbAccess } from './mariadb-access.ts';

export type Engine = 'sqlite' | 'mariadb';

/** Returns the dialect for one SQLite file. */
export function sqliteDialect(path: string): Dialect {
  return new SqliteDialect({ database: async () => nodeSqlite(path) });
}

/** Returns the dialect for MariaDB, with a separate pool. */
export function mariadbDialect(access: MariadbAccess): Dialect {
  return new MysqlDialect({
    pool: async () => (await import('./mariadb-pool.ts')).mariadbPool(access),
  });
}

/** Maximum wait for a file lock (ms). The wait is synchronous and blocks this whole process. */
const lockedMs = 500;

/** Adapts node:sqlite to the small interface Kysely expects. */
function nodeSqlite(path: string): SqliteDatabase {
  const db = new DatabaseSync(path, { timeout: lockedMs });
  // WAL: readers never wait for the writer. NORMAL: a power cut may lose the last commits, and the store is a cache.
  // MEMORY: large sorts and statement rollback data stay in memory, because the Pod has no other writable folder.
  db.exec('PRAGMA journal_mode=WAL; PRAGMA synchronous=NORMAL; PRAGMA temp_store=MEMORY');
  return {
    close: () => db.close(),
    prepare(text) {
      // SQLite rolls back by itself when the volume is full. A second rollback would replace the original error.
      const isRolledBack = text === 'rollback' && !db.isTransaction;
      // Every transaction writes. A transaction starting with a read fails at once while another process writes;
      // `begin immediate` waits.
      const begins = text === 'begin';
      const statement = db.prepare(
        isRolledBack ? 'SELECT 1 WHERE 0' : begins ? 'begin immediate' : text,
      );
      return {
        reader: statement.columns().length > 0,
        all: (parameters) => statement.all(...values(parameters)),
        run: (parameters) => statement.run(...values(parameters)),
        iterate: (parameters) => statement.iterate(...values(parameters)),
      };
    },
  };
}

/** Casts the parameters: Kysely passes only values the column types allow, and SQLite accepts those types. */
function values(parameters: readonly unknown[]): SQLInputValue[] {
  return parameters as SQLInputValue[];
}

/** Throws if the file is not a sound SQLite database. */
export function checkSqlite(path: string): void {
  const db = new DatabaseSync(path);
  try {
    const [row] = db.prepare('PRAGMA quick_check(1)').all();
    const result = Object.values(row ?? {})[0];
    if (result !== 'ok') throw new CorruptDatabase(String(result));
  } finally {
    db.close();
  }
}

class CorruptDatabase extends Error {}

// https://www.sqlite.org/rescode.html: SQLITE_CORRUPT and SQLITE_NOTADB; the low byte is the primary code.
const corruptCodes: readonly number[] = [11, 26];

/** Returns true if the error means a damaged file; no retry repairs the file. */
export function isCorrupt(error: unknown): boolean {
  if (error instanceof CorruptDatabase) return true;
  const code = (error as { readonly errcode?: unknown } | undefined)?.errcode;
  return typeof code === 'number' && corruptCodes.includes(code & 0xff);
}

/** Returns the column types for an engine. */
export function columnTypes(engine: Engine) {
  return {
    /** Text compared byte by byte: MariaDB's default ignores case and trailing blanks. */
    key: (length: number) =>
      engine === 'sqlite'
        ? sql.raw(`varchar(${length})`)
        : sql.raw(`varchar(${length}) character set utf8mb4 collate utf8mb4_nopad_bin`),
    /** A node's JSON; MariaDB's `text` type ends at 64 KiB. */
    document: engine === 'sqlite' ? sql`text` : sql`mediumtext character set utf8mb4`,
    /** An auto-increment row number. */
    serial: engine === 'sqlite' ? sql`integer` : sql`bigint`,
    /** A time in `sqlTime` format (UTC), with a type that MariaDB does not convert to the session time zone. */
    time: engine === 'sqlite' ? sql`text` : sql`datetime(3)`,
  };
}

/** Returns the SQL expression for the number of elements in the JSON array `interfaces`. */
export function countInterfaces(engine: Engine) {
  const count = engine === 'sqlite' ? 'json_array_length' : 'json_length';
  return sql<number>`coalesce(${sql.raw(count)}(config, '$.interfaces'), 0)`;
}

// https://mariadb.com/kb/en/mariadb-error-code-reference/: a deadlock, and a row changed since the transaction began.
const conflictNumbers: readonly number[] = [1213, 1020];

/** Returns true if a concurrent transaction caused the rollback: the caller can retry at once. */
export function isConflict(error: unknown): boolean {
  const number = (error as { readonly errno?: unknown } | undefined)?.errno;
  return typeof number === 'number' && conflictNumbers.includes(number);
}
