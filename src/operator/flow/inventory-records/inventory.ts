import type { Effect } from '../../../api/effects.ts';
import type { ExistingNodeConfig } from '../../../api/node-configs-http.ts';
import { keyOf } from '../../../kube/object.ts';
import { isOwn } from '../../../plan/ownership.ts';
import type { Owner, RecordedNode } from '../../../plan/plan.ts';
import { deliveredFor } from '../../../plan/view.ts';
import type { Perform } from '../../../process/effects.ts';
import type { Logger } from '../../../process/log.ts';
import { inTurns } from '../../../process/slices.ts';
import type { Author, StoredNode } from '../../../store/node-configs.ts';
import type { RecordedObject, RecordingDetails } from '../../../store/recording.ts';
import type { RemovalBases } from '../../../store/removal-bases.ts';
import type { Store } from '../../../store/store.ts';
import type { Clock } from '../../../time/clock.ts';
import { withDeadline } from '../../../time/deadline.ts';
import type { Rounds } from '../../clusters/deliver/delivery-rounds.ts';
import type { OperatorMetrics } from '../../model/metrics.ts';
import { DeliveredNics } from './delivered-nics.ts';

/** Bases of removals in a business cluster. */
interface BasesByCluster {
  of(providerId: string): RemovalBases;
}

type Name = Pick<Author, 'namespace' | 'name'>;

/** Records to remove, with the bases of the removals; undefined: unknown. */
interface PendingRemoval {
  readonly author: Name;
  readonly bases: BasesByCluster | undefined;
}

/** The store with an in-memory fallback: a database outage delays no sync. */
export interface Inventory {
  /** Returns an OpenstackConfig's recorded nodes by business cluster; undefined: the database cannot be read. */
  nodesOf(author: Name): Promise<ReadonlyMap<string, readonly string[]> | undefined>;
  /** Returns the objects after the last recorded sync; undefined: the database cannot be read. */
  objectsOf(providerId: string, author: Name): Promise<readonly RecordedObject[] | undefined>;
  /** Returns the servers' NICs at the last delivery; without the database, the deliveries of this process. */
  nicsOf(serverIds: readonly string[]): Promise<readonly RecordedNode[]>;
  /**
   * Sets an OpenstackConfig's records in a business cluster to `nodes`, leaves records of `unknown` unchanged, and
   * stores observed port data. Logs the removals with their bases. Returns whether the records were written: the next
   * sync repeats a failed write.
   */
  record(
    providerId: string,
    author: Author,
    nodes: readonly StoredNode[],
    details?: RecordingDetails,
  ): Promise<boolean>;
  /** Hashes an OpenstackConfig's records in a business cluster; undefined: unreadable. */
  fingerprint(providerId: string, author: Name): Promise<string | undefined>;
  /**
   * Removes all records of a deleted OpenstackConfig, now or when the database works again. `bases`: bases of the
   * removals by business cluster; undefined: unknown.
   */
  forget(author: Name, bases?: BasesByCluster): Promise<void>;
  /** Returns the OpenstackConfigs with records; empty when the database cannot be read. */
  authors(): Promise<readonly Name[]>;
}

export interface InventoryDeps {
  readonly store: Pick<
    Store,
    'authors' | 'fingerprint' | 'forget' | 'nicsOf' | 'nodesOf' | 'objectsOf' | 'record'
  >;
  readonly perform: Perform<Effect>;
  readonly clock: Clock;
  readonly log: Logger;
  readonly metrics: Pick<OperatorMetrics, 'count' | 'observe'>;
}

/** Database timeout (ms): a working database needs milliseconds, and a hanging database delays a sync no longer. */
const timeoutMs = 3_000;

/** A failed database call, already logged. */
class DatabaseFailure extends Error {
  override readonly name = 'DatabaseFailure';
}

/** Kind of database call, for metrics. */
type Operation = 'authors' | 'nics' | 'nodes' | 'record';

/** Milliseconds without calls after a database failure. */
const pauseMs = 30_000;

interface Pause {
  /** Monotonic ms. */
  readonly until: number;
  readonly failure: DatabaseFailure;
}

async function unlessItFails<T>(work: () => Promise<T>): Promise<T | undefined> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof DatabaseFailure) return undefined;
    throw error;
  }
}

export function createInventory(deps: InventoryDeps): Inventory {
  const { store, perform, clock, log, metrics } = deps;
  /**
   * Pauses for all calls and for writes: a read-only database (a replica after failover, a full volume) still returns
   * NIC names.
   */
  let pauses: { readonly all?: Pause; readonly writes?: Pause } = {};
  let changes: Promise<unknown> = Promise.resolve();
  /** OpenstackConfigs deleted while the database was down, with the bases of their removals. */
  const pendingRemovals = new Map<string, PendingRemoval>();
  const delivered = new DeliveredNics();

  function ended(operation: Operation, status: 'success' | 'error', startedAt: number): void {
    metrics.count('multinic_inventory_calls_total', { result: status });
    const seconds = (clock.monotonicMs() - startedAt) / 1000;
    metrics.observe('multinic_database_operation_duration_seconds', { operation, status }, seconds);
  }

  function pauseOf(operation: Operation): Pause | undefined {
    const { all, writes } = pauses;
    return [all, operation === 'record' ? writes : undefined].find(
      (pause) => pause && clock.monotonicMs() < pause.until,
    );
  }

  async function query<T>(operation: Operation, work: () => Promise<T>): Promise<T> {
    const paused = pauseOf(operation);
    if (paused) throw paused.failure;
    const startedAt = clock.monotonicMs();
    try {
      const answer = await withDeadline({ clock, ms: timeoutMs }, work);
      const { writes } = pauses;
      pauses = operation === 'record' || !writes ? {} : { writes };
      ended(operation, 'success', startedAt);
      return answer;
    } catch (cause) {
      // Database drivers have no common error class, and no failure may delay NICs.
      const failure = new DatabaseFailure('the inventory database failed', { cause });
      const pause = { until: clock.monotonicMs() + pauseMs, failure };
      pauses = operation === 'record' ? { ...pauses, writes: pause } : { ...pauses, all: pause };
      ended(operation, 'error', startedAt);
      log.error({ err: cause, pauseMs }, 'inventory failed, syncs continue without it');
      throw failure;
    }
  }

  /** Runs database changes singly, so that each change has the full timeout. */
  async function change(work: () => Promise<void>): Promise<void> {
    const turn = changes.then(async () =>
      perform('operator.inventory.write', async () => query('record', work)),
    );
    changes = Promise.allSettled([turn]);
    await turn;
  }

  async function write(...values: Parameters<typeof store.record>): Promise<true> {
    await change(async () => store.record(...values));
    return true;
  }

  /** Skips the work when an OpenstackConfig with this name returned and was recorded before its turn. */
  async function unlessBack(author: Name, work: () => Promise<void>): Promise<void> {
    await change(async () => (pendingRemovals.has(keyOf(author)) ? work() : undefined));
  }

  async function erase({ author, bases }: PendingRemoval): Promise<void> {
    const deleted = { ...author, generation: 0 };
    for (const provider of (await query('nodes', async () => store.nodesOf(author))).keys()) {
      const details = { bases: bases?.of(provider) };
      await unlessBack(author, async () => store.record(provider, deleted, [], details));
    }
    await unlessBack(author, async () => store.forget(author));
    pendingRemovals.delete(keyOf(author));
  }

  async function eraseAll(): Promise<void> {
    for (const pending of pendingRemovals.values()) await erase(pending);
  }

  /** Repeats removals missed by the database. */
  async function catchUp(): Promise<void> {
    if (pendingRemovals.size > 0 && !pauseOf('record')) await unlessItFails(eraseAll);
  }

  const read = async <T>(nodes: () => Promise<T>) => unlessItFails(() => query('nodes', nodes));

  return {
    nodesOf: async (author) => read(async () => store.nodesOf(author)),
    objectsOf: async (...of) => read(async () => store.objectsOf(...of)),
    async nicsOf(serverIds) {
      if (serverIds.length === 0) return [];
      const recorded = await unlessItFails(async () =>
        query('nics', async () => store.nicsOf(serverIds)),
      );
      if (recorded && !pauses.writes) return recorded;
      // Only this process knows failed writes.
      return delivered.over(recorded ?? [], serverIds);
    },
    authors: async () =>
      (await unlessItFails(async () => query('authors', async () => store.authors()))) ?? [],
    async record(providerId, author, nodes, details) {
      pendingRemovals.delete(keyOf(author));
      await inTurns(nodes, delivered.remember);
      const isWritten = await unlessItFails(async () => write(providerId, author, nodes, details));
      await catchUp();
      return isWritten === true;
    },
    async fingerprint(providerId, author) {
      const fingerprint = await read(async () => store.fingerprint(providerId, author));
      await catchUp();
      return fingerprint;
    },
    async forget(author, bases) {
      const key = keyOf(author);
      // A deletion during an outage is forgotten again when the object is gone, then without bases.
      const pending = { author, bases: bases ?? pendingRemovals.get(key)?.bases };
      pendingRemovals.set(key, pending);
      await unlessItFails(async () => erase(pending));
    },
  };
}

/** Returns the OpenstackConfig's nodes after a delivery, as the inventory shows them. */
export function nodesAfter({ held, nodes: plans, delivery }: Rounds, owner: Owner): StoredNode[] {
  const nodes = new Map(
    held.filter((node) => isOwn(node, owner)).map((node) => [node.nodeName, storedFrom(node)]),
  );
  const posted = plans.filter(({ action }) => action === 'post');
  const planned = new Map(posted.map((node) => [node.nodeName, node]));
  const waiting = new Set(delivery.waiting);
  for (const name of delivery.removed) if (!waiting.has(name)) nodes.delete(name);
  for (const { nodeName, uid, generation } of delivery.accepted) {
    const node = planned.get(nodeName);
    if (!node) continue;
    const { instanceId, interfaces } = node;
    nodes.set(nodeName, { nodeName, instanceId, interfaces, uid, generation });
  }
  return [...nodes.values()];
}

function storedFrom(node: ExistingNodeConfig): StoredNode {
  const { nodeName, uid, generation, spec } = node;
  const { interfaces = [] } = spec;
  const instanceId = deliveredFor(node) ?? '';
  return { nodeName, instanceId, interfaces, uid, generation };
}
