import type { Effect } from '../../api/effects.ts';
import type { ExistingNodeConfig } from '../../api/node-configs-http.ts';
import { keyOf } from '../../kube/object.ts';
import type { Owner, RecordedNode } from '../../plan/plan.ts';
import { deliveredFor, isOwn } from '../../plan/view.ts';
import type { Perform } from '../../process/effects.ts';
import type { Logger } from '../../process/log.ts';
import { inTurns } from '../../process/slices.ts';
import type { Author, StoredNode } from '../../store/node-configs.ts';
import type { ObservedPorts } from '../../store/observed-ports.ts';
import type { Store } from '../../store/store.ts';
import type { Clock } from '../../time/clock.ts';
import { withDeadline } from '../../time/deadline.ts';
import type { Rounds } from '../deliver/delivery-rounds.ts';
import type { OperatorMetrics } from '../metrics/metrics.ts';

type Name = Pick<Author, 'namespace' | 'name'>;

/** The store as the operator uses it: a cache, so that a database which is down holds nothing up. */
export interface Inventory {
  /** Recorded nodes of an OpenstackConfig by business cluster; undefined when that cannot be read. */
  nodesOf(author: Name): Promise<ReadonlyMap<string, readonly string[]> | undefined>;
  /** What was delivered to these servers last; when that cannot be read, what this process knows of it. */
  nicsOf(serverIds: readonly string[]): Promise<readonly RecordedNode[]>;
  /**
   * Makes the records of an OpenstackConfig in a business cluster equal to `nodes`, those of `unknown` apart, and notes
   * what was seen of their ports; the next sync repeats a failure.
   */
  record(
    providerId: string,
    author: Author,
    nodes: readonly StoredNode[],
    unknown?: readonly string[],
    sighting?: ObservedPorts,
  ): Promise<void>;
  /** Removes every record of an OpenstackConfig that is gone, now or as soon as the store can be reached. */
  forget(author: Name): Promise<void>;
  /** Every OpenstackConfig that has records; empty when that cannot be read. */
  authors(): Promise<readonly Name[]>;
}

export interface InventoryDeps {
  readonly store: Pick<Store, 'authors' | 'forget' | 'nicsOf' | 'nodesOf' | 'record'>;
  readonly perform: Perform<Effect>;
  readonly clock: Clock;
  readonly log: Logger;
  readonly metrics: Pick<OperatorMetrics, 'count' | 'observe'>;
}

/** A database that answers takes milliseconds; one that hangs costs a sync no more than this. */
const patienceMs = 3_000;

/** What came of a question to the database; told in the log already. */
class DatabaseFailure extends Error {
  override readonly name = 'DatabaseFailure';
}

/** Servers whose names are remembered beside it: those of large fleets, and not every one that an autoscaler ever made. */
const mostRemembered = 20_000;

/** What is asked of it, for metrics. */
type Operation = 'authors' | 'nics' | 'nodes' | 'record';

/** A database that failed is left alone so long. */
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
  /** One that takes no changes (a replica after a failover, a full volume) says what names NICs have all the same. */
  let pauses: { readonly all?: Pause; readonly writes?: Pause } = {};
  let changes: Promise<unknown> = Promise.resolve();
  /** Gone while the store could not be reached. */
  const unforgotten = new Map<string, Name>();
  /** By server id: names outlive their objects also while the store cannot be read. */
  const delivered = new Map<string, RecordedNode>();

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

  async function ask<T>(operation: Operation, work: () => Promise<T>): Promise<T> {
    const paused = pauseOf(operation);
    if (paused) throw paused.failure;
    const startedAt = clock.monotonicMs();
    try {
      const answer = await withDeadline({ clock, ms: patienceMs }, work);
      const { writes } = pauses;
      pauses = operation === 'record' || !writes ? {} : { writes };
      ended(operation, 'success', startedAt);
      return answer;
    } catch (cause) {
      // Drivers have no error class of their own, and whatever it is, NICs do not wait for it.
      const failure = new DatabaseFailure('the inventory fails', { cause });
      const pause = { until: clock.monotonicMs() + pauseMs, failure };
      pauses = operation === 'record' ? { ...pauses, writes: pause } : { ...pauses, all: pause };
      ended(operation, 'error', startedAt);
      log.error({ err: cause, pauseMs }, 'inventory fails, going on without it for a while');
      throw failure;
    }
  }

  /** Of a NIC only what its name follows from: of a large fleet all of it would be tens of megabytes. */
  function remember({ instanceId, interfaces }: RecordedNode): void {
    const serverId = instanceId.toLowerCase();
    const nics = interfaces.map(({ id, name, portId, macAddress }) => ({
      ...(id === undefined ? {} : { id }),
      ...(name === undefined ? {} : { name }),
      ...(portId === undefined ? {} : { portId }),
      macAddress,
    }));
    delivered.delete(serverId);
    delivered.set(serverId, { instanceId, interfaces: nics });
    const [oldest] = delivered.keys();
    if (delivered.size > mostRemembered && oldest !== undefined) delivered.delete(oldest);
  }

  /** One after the other, as they come to the database: the patience of those that wait is not spent by the others. */
  async function change(work: () => Promise<void>): Promise<void> {
    const turn = changes.then(async () =>
      perform('operator.inventory.write', async () => ask('record', work)),
    );
    changes = Promise.allSettled([turn]);
    await turn;
  }

  async function write(...values: Parameters<typeof store.record>): Promise<void> {
    await change(async () => store.record(...values));
  }

  /** One of the same name may come, and be recorded, before a change has its turn. */
  async function unlessBack(author: Name, work: () => Promise<void>): Promise<void> {
    await change(async () => (unforgotten.has(keyOf(author)) ? work() : undefined));
  }

  async function erase(author: Name): Promise<void> {
    for (const provider of (await ask('nodes', async () => store.nodesOf(author))).keys()) {
      await unlessBack(author, async () =>
        store.record(provider, { ...author, generation: 0 }, []),
      );
    }
    await unlessBack(author, async () => store.forget(author));
    unforgotten.delete(keyOf(author));
  }

  async function eraseAll(): Promise<void> {
    for (const author of unforgotten.values()) await erase(author);
  }

  return {
    nodesOf: async (author) =>
      unlessItFails(async () => ask('nodes', async () => store.nodesOf(author))),
    async nicsOf(serverIds) {
      if (serverIds.length === 0) return [];
      const recorded = await unlessItFails(async () =>
        ask('nics', async () => store.nicsOf(serverIds)),
      );
      if (recorded && !pauses.writes) return recorded;
      // What could not be written is known here only.
      const ids = serverIds.map((id) => id.toLowerCase());
      const own = ids.flatMap((id) => delivered.get(id) ?? []);
      const others = recorded ?? [];
      return [...own, ...others.filter((one) => !delivered.has(one.instanceId.toLowerCase()))];
    },
    authors: async () =>
      (await unlessItFails(async () => ask('authors', async () => store.authors()))) ?? [],
    async record(providerId, author, nodes, unknown, sighting) {
      unforgotten.delete(keyOf(author));
      await inTurns(nodes, remember);
      await unlessItFails(async () => write(providerId, author, nodes, unknown, sighting));
      if (unforgotten.size > 0 && !pauseOf('record')) await unlessItFails(eraseAll);
    },
    async forget(author) {
      unforgotten.set(keyOf(author), author);
      await unlessItFails(async () => erase(author));
    },
  };
}

/** The OpenstackConfig's nodes as the business cluster holds them after a delivery: what the inventory shows. */
export function nodesAfter({ held, nodes: plans, delivery }: Rounds, owner: Owner): StoredNode[] {
  const nodes = new Map(
    held
      .filter((node) => isOwn(node, { owner, force: false }))
      .map((node) => [node.nodeName, storedFrom(node)]),
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
