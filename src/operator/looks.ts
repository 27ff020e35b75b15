import type { OperatorReason } from '../api/reasons.ts';
import { keyOf } from '../kube/object.ts';
import type { Clock } from '../time/clock.ts';
import { asksForWork, type ConfigObject } from './openstack-config.ts';
import type { SyncResult } from './status/status.ts';

/** What one look takes in. Times are monotonic milliseconds. */
export interface Extent {
  /** Servers that are looked at; the rest of the OpenstackConfig stays as it is. */
  readonly scope: 'all' | readonly string[];
  /** What was seen before does not count; undefined = the pace says how old it may be. */
  readonly since: number | undefined;
  /** Servers of which something was said, and when: what was seen of them before does not count either. */
  readonly hinted: { readonly servers: readonly string[]; readonly since: number };
  /** Names of the objects of servers that may be looked at alone, by server id. */
  readonly nodeNames: ReadonlyMap<string, string>;
}

/** What a look at all servers leaves behind for looks at some of them. */
interface Ended {
  /** Milliseconds until the next one. */
  readonly nextMs: number;
  /** The object of each server that nothing stands in the way of, by server id; undefined = the look failed. */
  readonly nodeNames: ReadonlyMap<string, string> | undefined;
}

interface Memory extends Pick<Ended, 'nodeNames'> {
  /** The OpenstackConfig as it was looked at. */
  readonly object: ConfigObject;
  readonly endedAt: number;
  readonly dueAt: number;
  /** When the others are accounted for as well; undefined = no look at some servers has happened since. */
  readonly accountAt: number | undefined;
}

/** Timers may come a little early. */
const slackMs = 20;
/** Status and inventory are about all servers: they follow a look at some so soon, whatever is seen of the others then. */
const accountMs = 2_000;
const longAgo = Number.NEGATIVE_INFINITY;
/** A service that fails is not asked more often because much happens there. */
const restMs = 5_000;

/** Decides whether a look takes in all servers of an OpenstackConfig, or only those of which something was said. */
export class Looks {
  readonly #clock: Clock;
  readonly #memories = new Map<string, Memory>();
  readonly #hints = new Map<string, Map<string, number>>();
  readonly #whole = new Map<string, number>();
  /** Of looks that have not ended well: since when what is seen has to be. */
  readonly #open = new Map<string, number>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Something was said of these servers; answers whether they are looked at now, or when a look is due anyway. */
  note(key: string, servers: readonly string[]): boolean {
    if (servers.length === 0) return false;
    const hints = this.#hints.get(key) ?? new Map<string, number>();
    for (const id of servers) hints.set(id, this.#clock.monotonicMs());
    this.#hints.set(key, hints);
    return this.#mayLook(key);
  }

  /** More may have changed than anybody said; answers whether it is looked at now. */
  noteWhole(key: string): boolean {
    this.#whole.set(key, this.#clock.monotonicMs());
    return this.#mayLook(key);
  }

  /** What is to be looked at now; what was said is said again to the next look, should this one not end well. */
  take(object: ConfigObject): Extent {
    const { hinted, since } = this.#said(keyOf(object));
    const { nodeNames, accountAt } = this.#usable(object) ?? {};
    const isWhole = nodeNames === undefined || since !== undefined;
    return isWhole
      ? { scope: 'all', since, hinted, nodeNames: new Map() }
      : { ...this.#part(hinted, nodeNames, accountAt), hinted, nodeNames };
  }

  /** A look at all servers has ended; answers in how many milliseconds the next one is due. */
  ended(object: ConfigObject, { since }: Extent, { nextMs, nodeNames }: Ended): number {
    const now = this.#clock.monotonicMs();
    const key = keyOf(object);
    const before = this.#memories.get(key)?.dueAt ?? Number.POSITIVE_INFINITY;
    // One that took the others as they were seen before puts no look off.
    const longest = since === longAgo ? before : Number.POSITIVE_INFINITY;
    const dueAt = Math.min(now + nextMs, longest);
    const accountAt = undefined;
    if (nodeNames !== undefined) this.#open.delete(key);
    this.#memories.set(key, { object, nodeNames, endedAt: now, dueAt, accountAt });
    return Math.max(0, dueAt - now);
  }

  /** A look at some servers has ended; answers in how many milliseconds all are accounted for. */
  endedSome(object: ConfigObject): number {
    const key = keyOf(object);
    const now = this.#clock.monotonicMs();
    const memory = this.#usable(object);
    if (memory === undefined) return 0;
    this.#open.delete(key);
    const { accountAt = now + accountMs } = memory;
    this.#memories.set(key, { ...memory, accountAt });
    return Math.max(0, Math.min(accountAt, memory.dueAt) - now);
  }

  forget(key: string): void {
    for (const each of [this.#memories, this.#hints, this.#whole, this.#open]) each.delete(key);
  }

  #said(key: string) {
    const hints = this.#hints.get(key) ?? new Map<string, number>();
    const hinted = { servers: [...hints.keys()], since: Math.max(longAgo, ...hints.values()) };
    const wholeAt = Math.max(this.#whole.get(key) ?? longAgo, this.#open.get(key) ?? longAgo);
    this.#hints.delete(key);
    this.#whole.delete(key);
    const last = Math.max(hinted.since, wholeAt);
    if (last > longAgo) this.#open.set(key, last);
    return { hinted, since: wholeAt > longAgo ? wholeAt : undefined };
  }

  /** Some servers alone, or all of them with the others as they were seen last. */
  #part(
    { servers, since }: Extent['hinted'],
    nodeNames: Extent['nodeNames'],
    accountAt = Number.POSITIVE_INFINITY,
  ): Pick<Extent, 'scope' | 'since'> {
    const isSome = servers.length > 0 && servers.every((id) => nodeNames.has(id));
    const isLate = this.#clock.monotonicMs() >= accountAt - slackMs;
    if (isSome && !isLate) return { scope: servers, since };
    const accounts = servers.length > 0 || accountAt < Number.POSITIVE_INFINITY;
    return { scope: 'all', since: accounts ? longAgo : undefined };
  }

  /** What is remembered, unless a look at all servers is due. */
  #usable(object: ConfigObject): Memory | undefined {
    const memory = this.#memories.get(keyOf(object));
    if (memory === undefined || asksForWork(memory.object, object)) return undefined;
    return this.#clock.monotonicMs() < memory.dueAt - slackMs ? memory : undefined;
  }

  #mayLook(key: string): boolean {
    const memory = this.#memories.get(key);
    // Before its first look there is nothing to be hastened.
    if (memory === undefined) return false;
    const hasFailed = memory.nodeNames === undefined;
    return !hasFailed || this.#clock.monotonicMs() - memory.endedAt >= restMs;
  }
}

const blocking: ReadonlySet<string> = new Set<OperatorReason>([
  'InvalidNodeName',
  'NameConflict',
  'NovaServerError',
  'ServerNotFound',
]);

/**
 * The objects of servers that may be looked at alone: one object that can be read and that nobody else has a claim to.
 * Nothing, while a service fails.
 */
export function nodeNamesIn(
  synced: Pick<SyncResult, 'nodes' | 'troubles' | 'isOutage' | 'unreadable'>,
): Ended['nodeNames'] {
  const { nodes, troubles, unreadable, isOutage } = synced;
  if (isOutage) return undefined;
  const blocked = new Set([
    ...troubles.flatMap((one) => (blocking.has(one.reason) && 'subject' in one ? one.subject : [])),
    ...unreadable.map((name) => `node ${name}`),
  ]);
  const byServer = Map.groupBy(nodes, ({ instanceId }) => instanceId);
  const free = nodes.filter(
    ({ nodeName, instanceId, waiting }) =>
      !waiting &&
      byServer.get(instanceId)?.length === 1 &&
      !blocked.has(`node ${nodeName}`) &&
      !blocked.has(`server ${instanceId}`),
  );
  return new Map(free.map(({ instanceId, nodeName }) => [instanceId, nodeName]));
}
