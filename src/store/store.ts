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
import { type HistoryFilter, listChanges, type NumberedChange, oldestChange } from './history.ts';
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
import { type PortNotes, portNotes } from './port-notes.ts';
import {
  fingerprintOf,
  type RecordedObject,
  type Recording,
  type RecordingDetails,
  recordedObjects,
  recordNodeConfigs,
} from './recording.ts';
import type { RemovalBases } from './removal-bases.ts';
import { forgetDeletedRows } from './retention.ts';
import { type DeliveredNics, deleteOldNics, nicsOfServers } from './server-nics.ts';

interface SqliteLocation {
  readonly kind: 'sqlite';
  readonly path: string;
}

/** Database location: a SQLite file or MariaDB. */
export type StoreLocation = SqliteLocation | ({ readonly kind: 'mariadb' } & MariadbAccess);

export interface StoreOptions {
  readonly now: () => Date;
  /** Called after a damaged file was moved aside; the operator then reads all data again from the clusters. */
  readonly onRebuilt?: (movedTo: string, cause: unknown) => void;
  /** Called when the open file was removed or replaced; the store then opens the path again. */
  readonly onReplaced?: (path: string) => void;
}

/** Interval for comparing the path with the open file: SQLite keeps writing to an unlinked file. */
const fileCheckEveryMs = 10_000;

/** Once a day, because the cleanup scans whole tables. */
const pruneEveryMs = 86_400_000;

/** Inventory tables: a cache for business cluster data, and a change log. */
export class Store {
  readonly #location: StoreLocation;
  readonly #options: StoreOptions;
  /** undefined: not connected yet, or the last attempt to open failed. */
  #db: Promise<Database> | undefined;
  /** The last write. Writes run one at a time, because concurrent writes wait for each other's locks and deadlock. */
  #writing: Promise<unknown> = Promise.resolve();
  #prunedAt = Number.NEGATIVE_INFINITY;
  /** File identities: the open SQLite file and its log. */
  #identity: string | undefined;
  #logIdentity: string | undefined;
  #followedAt = Number.NEGATIVE_INFINITY;
  /** The path check in progress. */
  #following: Promise<void> = Promise.resolve();
  #active = 0;

  private constructor(location: StoreLocation, options: StoreOptions) {
    this.#location = location;
    this.#options = options;
  }

  /**
   * Opens the store and migrates the tables. A damaged SQLite file is moved aside and rebuilt. MariaDB connects at
   * the first call. If opening fails, each call fails and retries: no part's start depends on the database.
   */
  static async open(location: StoreLocation, options: StoreOptions): Promise<Store> {
    const store = new Store(location, options);
    // Ignores the result: each later call reports why the file cannot be opened.
    if (location.kind === 'sqlite') await Promise.allSettled([store.#opened()]);
    return store;
  }

  /** Returns records from all business clusters, sorted by provider and node name. */
  async list(filter: NodeConfigFilter = {}): Promise<InventoryRecord[]> {
    return this.#use((db) => listNodeConfigs(db, filter));
  }

  /** Returns business clusters with nodes, sorted by id. */
  async providers(filter: ProviderFilter = {}): Promise<InventoryProvider[]> {
    return this.#use((db) => listProviders(db, filter));
  }

  /** Returns NIC changes, newest first. */
  async changes(filter: HistoryFilter): Promise<NumberedChange[]> {
    return this.#use((db) => listChanges(db, filter));
  }

  /** Returns the oldest logged change's time; `providers` undefined: in all business clusters. */
  async oldestChange(providers: readonly string[] | undefined): Promise<string | undefined> {
    return this.#use((db) => oldestChange(db, providers));
  }

  /** Returns the stored port data for these records. */
  async notesOf(records: readonly InventoryRecord[]): Promise<PortNotes> {
    return this.#use((db) => portNotes(db, records));
  }

  /**
   * Makes the records for one OpenstackConfig in one business cluster equal to `nodes`, except those in `unknown`.
   * Also stores the observed port data, and logs the removals with their bases.
   */
  async record(
    providerId: string,
    author: Author,
    nodes: readonly StoredNode[],
    { unknown = [], ...details }: RecordingDetails = {},
  ): Promise<void> {
    const recording = { ...details, providerId, author, nodes, unknown };
    return this.#inTurn(async () => this.#write(recording));
  }

  /** Hashes an OpenstackConfig's records in a business cluster: equal until a record changes. */
  async fingerprint(
    providerId: string,
    author: Pick<Author, 'namespace' | 'name'>,
  ): Promise<string> {
    await this.#inTurn(async () => this.#pruneDaily(this.#options.now()));
    return this.#use(async (db) => fingerprintOf(db, providerId, author));
  }

  /** Returns the objects recorded for an OpenstackConfig in a business cluster. */
  async objectsOf(
    providerId: string,
    author: Pick<Author, 'namespace' | 'name'>,
  ): Promise<readonly RecordedObject[]> {
    return this.#use((db) => recordedObjects(db, providerId, author));
  }

  /** Records these nodes for one OpenstackConfig and removes `gone`; records for other nodes stay. */
  async add(
    providerId: string,
    author: Author,
    nodes: readonly StoredNode[],
    gone: readonly string[] = [],
    bases?: RemovalBases,
  ): Promise<void> {
    const recording = { providerId, author, nodes, unknown: [], gone, bases };
    return this.#inTurn(async () => this.#write(recording));
  }

  /** Stores NIC indexes before the nodes are sent. */
  async reserve(nodes: readonly Omit<StoredNode, 'uid' | 'generation'>[]): Promise<void> {
    const now = this.#options.now();
    return this.#inTurn(async () => this.#use((db) => reserveNics(db, nodes, now)));
  }

  /** Returns records from one business cluster with the OpenstackConfigs that delivered them. */
  async deliveries(filter: DeliveryFilter): Promise<RecordedDelivery[]> {
    return this.#use((db) => listDeliveries(db, filter));
  }

  /** Deletes the row for a deleted OpenstackConfig without node records. */
  async forget(author: Pick<Author, 'namespace' | 'name'>): Promise<void> {
    return this.#inTurn(async () => this.#use((db) => forgetConfig(db, author)));
  }

  /** Returns names for an OpenstackConfig's recorded nodes, by business cluster. */
  async nodesOf(
    author: Pick<Author, 'namespace' | 'name'>,
  ): Promise<ReadonlyMap<string, readonly string[]>> {
    return this.#use((db) => recordedNodes(db, author));
  }

  /** Returns the last delivered NICs for these servers, even if the node is deleted. */
  async nicsOf(instanceIds: readonly string[]): Promise<readonly DeliveredNics[]> {
    return this.#use((db) => nicsOfServers(db, instanceIds));
  }

  /** Returns every OpenstackConfig with recorded nodes. */
  async authors(): Promise<readonly Pick<Author, 'namespace' | 'name'>[]> {
    return this.#use(listAuthors);
  }

  /** Connections in use: one per running call. */
  get active(): number {
    return this.#active;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const db = await this.#db;
    await db?.destroy();
  }

  async #inTurn(work: () => Promise<void>): Promise<void> {
    const write = this.#writing.then(work);
    // The next write waits until this write succeeds or fails; only the caller gets the error.
    this.#writing = Promise.allSettled([write]);
    await write;
  }

  async #write(recording: Recording): Promise<void> {
    const now = this.#options.now();
    await this.#use((db) => retryOnConflict(async () => recordNodeConfigs(db, recording, now)));
    await this.#pruneDaily(now);
  }

  async #pruneDaily(now: Date): Promise<void> {
    if (Math.abs(now.getTime() - this.#prunedAt) < pruneEveryMs) return;
    this.#prunedAt = now.getTime();
    await this.#use((db) => deleteOldNics(db, now));
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
      // A concurrent call may have found the damage and replaced the database. The resulting error is arbitrary,
      // hence retry.
      const replaced = this.#db !== opened;
      if (!replaced && !isCorrupt(error)) throw error;
      const sound = replaced
        ? this.#opened()
        : this.#track(this.#rebuilt(this.#location, db, error));
      return await work(await sound);
    } finally {
      this.#active -= 1;
    }
  }

  /**
   * Opens the file again when the path leads to another file or to none. Calls during the check wait: data written to
   * a removed file would be lost.
   */
  async #followFile(): Promise<void> {
    const location = this.#location;
    const open = this.#db;
    const now = this.#options.now().getTime();
    if (open === undefined || location.kind !== 'sqlite' || location.path === inMemory) return;
    if (Math.abs(now - this.#followedAt) >= fileCheckEveryMs) {
      this.#followedAt = now;
      const check = this.#checkFile(open, location.path);
      // A failed check rejects only the waiting calls.
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
    await this.#track(this.#reopened(open, path));
  }

  /**
   * Removes the lost file's log, unless a restored file brought a new log: SQLite would replay the old log into the
   * new file.
   */
  async #reopened(lost: Promise<Database>, path: string): Promise<Database> {
    const db = await lost;
    await db.destroy();
    const isOurs = (await fileIdentity(`${path}-wal`)) === this.#logIdentity;
    if (isOurs) await removeLogs(path);
    return this.#open();
  }

  #opened(): Promise<Database> {
    return this.#db ?? this.#track(this.#open());
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

  /** After a failed open the next call tries again. */
  #track(opening: Promise<Database>): Promise<Database> {
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

/** Attempts per write: conflicts with another leader or a manual table repair are short. */
const attempts = 5;

async function retryOnConflict(work: () => Promise<void>): Promise<void> {
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

/** Keeps one damaged file for analysis. The log files must go, because SQLite would replay them. */
async function moveAside(path: string, cause: unknown, { onRebuilt }: StoreOptions): Promise<void> {
  const movedTo = `${path}.damaged`;
  await rename(path, movedTo);
  await removeLogs(path);
  onRebuilt?.(movedTo, cause);
}

async function removeLogs(path: string): Promise<void> {
  for (const suffix of ['-wal', '-shm']) await rm(path + suffix, { force: true });
}
