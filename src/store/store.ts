import { mkdir, rename, rm } from 'node:fs/promises';
import { dirname } from 'node:path';
import { Kysely } from 'kysely';
import type { InventoryRecord } from '../api/inventory-http.ts';
import type { Database, Tables } from './database.ts';
import {
  checkSqlite,
  isCorrupt,
  type MariadbAccess,
  mariadbDialect,
  sqliteDialect,
} from './dialect.ts';
import { migrate } from './migrations.ts';
import {
  type Author,
  listAuthors,
  listNodeConfigs,
  type NodeConfigFilter,
  recordedNodes,
  recordNodeConfigs,
  type StoredNode,
} from './node-configs.ts';

/** Where the tables are: a SQLite file of our own, or a MariaDB. */
export type StoreLocation =
  | { readonly kind: 'sqlite'; readonly path: string }
  | ({ readonly kind: 'mariadb' } & MariadbAccess);

export interface StoreOptions {
  readonly now: () => Date;
  /** Told when a damaged file was moved aside; everything in it is read again from the clusters. */
  readonly onRebuilt?: (movedTo: string, cause: unknown) => void;
}

/** The inventory's tables: a cache of what the business clusters hold, and a log of what changed. */
export class Store {
  readonly #location: StoreLocation;
  readonly #options: StoreOptions;
  #db: Database;
  #rebuilding: Promise<void> | undefined;

  private constructor(location: StoreLocation, options: StoreOptions, db: Database) {
    this.#location = location;
    this.#options = options;
    this.#db = db;
  }

  /** Opens the store and brings its tables up to date; a damaged SQLite file is moved aside and made anew. */
  static async open(location: StoreLocation, options: StoreOptions): Promise<Store> {
    try {
      return new Store(location, options, await openDatabase(location));
    } catch (error) {
      if (location.kind !== 'sqlite' || !isCorrupt(error)) throw error;
      await moveAside(location.path, error, options);
      return new Store(location, options, await openDatabase(location));
    }
  }

  /** Records of all business clusters, in the order of provider and node name. */
  async list(filter: NodeConfigFilter = {}): Promise<InventoryRecord[]> {
    return this.#use((db) => listNodeConfigs(db, filter));
  }

  /** Makes the records of one OpenstackConfig in one business cluster equal to `nodes`. */
  async record(providerId: string, author: Author, nodes: readonly StoredNode[]): Promise<void> {
    await this.#use((db) => recordNodeConfigs(db, providerId, author, nodes, this.#options.now()));
  }

  /** Names of the recorded nodes of an OpenstackConfig, by business cluster. */
  async nodesOf(
    author: Pick<Author, 'namespace' | 'name'>,
  ): Promise<ReadonlyMap<string, readonly string[]>> {
    return this.#use((db) => recordedNodes(db, author));
  }

  /** Every OpenstackConfig that has recorded nodes. */
  async authors(): Promise<readonly Pick<Author, 'namespace' | 'name'>[]> {
    return this.#use(listAuthors);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#db.destroy();
  }

  async #use<T>(work: (db: Database) => Promise<T>): Promise<T> {
    const db = this.#db;
    try {
      return await work(db);
    } catch (error) {
      if (this.#location.kind !== 'sqlite') throw error;
      // Calls that were under way while another one met the damage fail in any way; they are repeated too.
      const replaced = this.#rebuilding !== undefined || this.#db !== db;
      if (!replaced && !isCorrupt(error)) throw error;
      if (!replaced) this.#rebuilding = this.#rebuild(this.#location.path, error);
      await this.#rebuilding;
      return work(this.#db);
    }
  }

  async #rebuild(path: string, cause: unknown): Promise<void> {
    try {
      await this.#db.destroy();
      await moveAside(path, cause, this.#options);
      this.#db = await openDatabase(this.#location);
    } finally {
      this.#rebuilding = undefined;
    }
  }
}

async function openDatabase(location: StoreLocation): Promise<Database> {
  if (location.kind === 'sqlite' && location.path !== ':memory:') {
    await mkdir(dirname(location.path), { recursive: true });
    checkSqlite(location.path);
  }
  const dialect =
    location.kind === 'sqlite' ? sqliteDialect(location.path) : mariadbDialect(location);
  const db = new Kysely<Tables>({ dialect });
  try {
    await migrate(db, location.kind);
  } catch (error) {
    await db.destroy();
    throw error;
  }
  return db;
}

/** One damaged file is kept for whoever wants to look at it; its log files go with it, or they would be replayed. */
async function moveAside(path: string, cause: unknown, { onRebuilt }: StoreOptions): Promise<void> {
  const movedTo = `${path}.damaged`;
  await rename(path, movedTo);
  for (const suffix of ['-wal', '-shm']) await rm(path + suffix, { force: true });
  onRebuilt?.(movedTo, cause);
}
