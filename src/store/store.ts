import { mkdir, rename, rm } from 'node:fs/promises';
import { dirname } from 'node:path';
import { Kysely } from 'kysely';
import type { InventoryProvider, InventoryRecord } from '../api/inventory-http.ts';
import { forgetConfig } from './config-rows.ts';
import type { Database, Tables } from './database.ts';
import {
  type DeliveryFilter,
  listDeliveries,
  type RecordedDelivery,
  reserveNics,
} from './deliveries.ts';
import { checkSqlite, isConflict, isCorrupt, mariadbDialect, sqliteDialect } from './dialect.ts';
import { fileIdentity } from './file-identity.ts';
import { type HistoryFilter, listChanges, type NumberedChange } from './history.ts';
import type { MariadbAccess } from './mariadb-access.ts';
import { migrate } from './migrations.ts';
import {
  type Author,
  listAuthors,
  listNodeConfigs,
  listProviders,
  type NodeConfigFilter,
  type ProviderFilter,
  recordedNodes,
  type StoredNode,
} from './node-configs.ts';
import type { ObservedPorts } from './observed-ports.ts';
import { type PortNotes, portNotes } from './port-notes.ts';
import { type Recording, recordNodeConfigs } from './recording.ts';
import { forgetDeletedRows } from './retention.ts';
import { type DeliveredNics, forgetOldNics, nicsOfServers } from './server-nics.ts';

interface SqliteLocation {
  readonly kind: 'sqlite';
  readonly path: string;
}

/** Where the tables are: a SQLite file of our own, or a MariaDB. */
export type StoreLocation = SqliteLocation | ({ readonly kind: 'mariadb' } & MariadbAccess);

export interface StoreOptions {
  readonly now: () => Date;
  /** Told when a damaged file was moved aside; everything in it is read again from the clusters. */
  readonly onRebuilt?: (movedTo: string, cause: unknown) => void;
  /** Told when the file was removed or replaced while it was open; the file of this name is opened then. */
  readonly onReplaced?: (path: string) => void;
}

/** How often the path is compared with the open file: SQLite goes on writing to a file that has lost its name. */
const followEveryMs = 10_000;

/** It looks through a whole table. */
const forgetEveryMs = 86_400_000;

/** The inventory's tables: a cache of what the business clusters hold, and a log of what changed. */
export class Store {
  readonly #location: StoreLocation;
  readonly #options: StoreOptions;
  /** Undefined while the database was not met yet, or could not be opened. */
  #db: Promise<Database> | undefined;
  /** The last write: they go one at a time, as they would wait for each other's locks, and give each other up. */
  #writing: Promise<unknown> = Promise.resolve();
  #forgotAt = Number.NEGATIVE_INFINITY;
  /** The open SQLite file and its log. */
  #identity: string | undefined;
  #logIdentity: string | undefined;
  #followedAt = Number.NEGATIVE_INFINITY;
  /** The check of the path that is under way. */
  #following: Promise<void> = Promise.resolve();
  #active = 0;

  private constructor(location: StoreLocation, options: StoreOptions) {
    this.#location = location;
    this.#options = options;
  }

  /**
   * Opens the store and brings its tables up to date. A damaged SQLite file is moved aside and made anew. A MariaDB is met at
   * the first call. One that cannot be opened fails each call and is met again at the next: nobody's start depends on it.
   */
  static async open(location: StoreLocation, options: StoreOptions): Promise<Store> {
    const store = new Store(location, options);
    // Opened or not: why it cannot be is told by each call.
    if (location.kind === 'sqlite') await Promise.allSettled([store.#opened()]);
    return store;
  }

  /** Records of all business clusters, in the order of provider and node name. */
  async list(filter: NodeConfigFilter = {}): Promise<InventoryRecord[]> {
    return this.#use((db) => listNodeConfigs(db, filter));
  }

  /** Business clusters with their nodes, in the order of their ids. */
  async providers(filter: ProviderFilter = {}): Promise<InventoryProvider[]> {
    return this.#use((db) => listProviders(db, filter));
  }

  /** Changes of NICs, the newest first. */
  async changes(filter: HistoryFilter): Promise<NumberedChange[]> {
    return this.#use((db) => listChanges(db, filter));
  }

  /** What was seen of the ports of these records. */
  async notesOf(records: readonly InventoryRecord[]): Promise<PortNotes> {
    return this.#use((db) => portNotes(db, records));
  }

  /**
   * Makes the records of one OpenstackConfig in one business cluster equal to `nodes`, those of `unknown` apart, and notes
   * what was seen of their ports.
   */
  async record(
    providerId: string,
    author: Author,
    nodes: readonly StoredNode[],
    unknown: readonly string[] = [],
    sighting?: ObservedPorts,
  ): Promise<void> {
    return this.#inTurn(async () => this.#write({ providerId, author, nodes, unknown, sighting }));
  }

  /** Records these nodes of one OpenstackConfig and removes those of `gone`; its records of other nodes stay. */
  async add(
    providerId: string,
    author: Author,
    nodes: readonly StoredNode[],
    gone: readonly string[] = [],
  ): Promise<void> {
    const recording = { providerId, author, nodes, unknown: [], gone };
    return this.#inTurn(async () => this.#write(recording));
  }

  /** Stores which NICs get which index before the nodes are sent. */
  async reserve(nodes: readonly Omit<StoredNode, 'uid' | 'generation'>[]): Promise<void> {
    const now = this.#options.now();
    return this.#inTurn(async () => this.#use((db) => reserveNics(db, nodes, now)));
  }

  /** Returns records of one business cluster with the OpenstackConfigs that delivered them. */
  async deliveries(filter: DeliveryFilter): Promise<RecordedDelivery[]> {
    return this.#use((db) => listDeliveries(db, filter));
  }

  /** Forgets an OpenstackConfig that is gone, and has no records any more. */
  async forget(author: Pick<Author, 'namespace' | 'name'>): Promise<void> {
    return this.#inTurn(async () => this.#use((db) => forgetConfig(db, author)));
  }

  /** Names of the recorded nodes of an OpenstackConfig, by business cluster. */
  async nodesOf(
    author: Pick<Author, 'namespace' | 'name'>,
  ): Promise<ReadonlyMap<string, readonly string[]>> {
    return this.#use((db) => recordedNodes(db, author));
  }

  /** The NICs that these servers had at their last delivery; they are known even when the node is gone. */
  async nicsOf(instanceIds: readonly string[]): Promise<readonly DeliveredNics[]> {
    return this.#use((db) => nicsOfServers(db, instanceIds));
  }

  /** Every OpenstackConfig that has recorded nodes. */
  async authors(): Promise<readonly Pick<Author, 'namespace' | 'name'>[]> {
    return this.#use(listAuthors);
  }

  /** Connections in use: each piece of work has one. */
  get active(): number {
    return this.#active;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const db = await this.#db;
    await db?.destroy();
  }

  async #inTurn(work: () => Promise<void>): Promise<void> {
    const write = this.#writing.then(work);
    // The next one waits for its end, good or bad; whoever asked for it is told which.
    this.#writing = Promise.allSettled([write]);
    await write;
  }

  async #write(recording: Recording): Promise<void> {
    const now = this.#options.now();
    await this.#use((db) => unlessInConflict(async () => recordNodeConfigs(db, recording, now)));
    if (Math.abs(now.getTime() - this.#forgotAt) < forgetEveryMs) return;
    this.#forgotAt = now.getTime();
    await this.#use((db) => forgetOldNics(db, now));
    await this.#use((db) => forgetDeletedRows(db, now));
  }

  async #use<T>(work: (db: Database) => Promise<T>): Promise<T> {
    await this.#followFile();
    const opened = this.#opened();
    const db = await opened;
    this.#active += 1;
    try {
      return await work(db);
    } catch (error) {
      if (this.#location.kind !== 'sqlite') throw error;
      // Calls that were under way while another one met the damage fail in any way; they are repeated too.
      const replaced = this.#db !== opened;
      if (!replaced && !isCorrupt(error)) throw error;
      const sound = replaced
        ? this.#opened()
        : this.#keep(this.#rebuilt(this.#location, db, error));
      return await work(await sound);
    } finally {
      this.#active -= 1;
    }
  }

  /**
   * Opens the file again when its path leads to another one, or to none. Calls that come during the check wait for it: what
   * they write into a file that was removed would be lost.
   */
  async #followFile(): Promise<void> {
    const location = this.#location;
    const open = this.#db;
    const now = this.#options.now().getTime();
    if (open === undefined || location.kind !== 'sqlite' || location.path === inMemory) return;
    if (Math.abs(now - this.#followedAt) >= followEveryMs) {
      this.#followedAt = now;
      const check = this.#checkFile(open, location.path);
      // A check that fails rejects the calls that wait for it, and no later ones.
      this.#following = check.finally(() => {
        this.#following = Promise.resolve();
      });
    }
    await this.#following;
  }

  async #checkFile(open: Promise<Database>, path: string): Promise<void> {
    const identity = await fileIdentity(path);
    if (identity === this.#identity || this.#db !== open) return;
    this.#options.onReplaced?.(path);
    await this.#keep(this.#reopened(open, path));
  }

  /** Removes the log of the lost file, unless a restored file brought its own: SQLite would replay it into the new file. */
  async #reopened(lost: Promise<Database>, path: string): Promise<Database> {
    const db = await lost;
    await db.destroy();
    const isOurs = (await fileIdentity(`${path}-wal`)) === this.#logIdentity;
    if (isOurs) await removeLogs(path);
    return this.#open();
  }

  #opened(): Promise<Database> {
    return this.#db ?? this.#keep(this.#open());
  }

  async #open(): Promise<Database> {
    const location = this.#location;
    try {
      return await this.#openFile();
    } catch (error) {
      if (location.kind !== 'sqlite' || !isCorrupt(error)) throw error;
      await moveAside(location.path, error, this.#options);
      return this.#openFile();
    }
  }

  async #openFile(): Promise<Database> {
    const location = this.#location;
    const db = await openDatabase(location);
    if (location.kind === 'sqlite' && location.path !== inMemory) {
      this.#identity = await fileIdentity(location.path);
      this.#logIdentity = await fileIdentity(`${location.path}-wal`);
    }
    return db;
  }

  /** What could not be opened is opened again by the next call. */
  #keep(opening: Promise<Database>): Promise<Database> {
    this.#db = opening.catch((error: unknown) => {
      this.#db = undefined;
      throw error;
    });
    return this.#db;
  }

  async #rebuilt(location: SqliteLocation, damaged: Database, cause: unknown): Promise<Database> {
    await damaged.destroy();
    await moveAside(location.path, cause, this.#options);
    return this.#openFile();
  }
}

const inMemory = ':memory:';

/** Another leader, or whoever repairs tables by hand, is not long at it. */
const attempts = 5;

async function unlessInConflict(work: () => Promise<void>): Promise<void> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await work();
    } catch (error) {
      if (attempt === attempts || !isConflict(error)) throw error;
    }
  }
}

async function openDatabase(location: StoreLocation): Promise<Database> {
  if (location.kind === 'sqlite' && location.path !== inMemory) {
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
  await removeLogs(path);
  onRebuilt?.(movedTo, cause);
}

async function removeLogs(path: string): Promise<void> {
  for (const suffix of ['-wal', '-shm']) await rm(path + suffix, { force: true });
}
