import type { OperatorReason } from '../../api/reasons.ts';
import { keyOf } from '../../kube/object.ts';
import type { Clock } from '../../time/clock.ts';
import { asksForWork, type ConfigObject } from '../openstack-config.ts';
import type { SyncResult } from '../sync/result.ts';

/** What one look takes in. Times are monotonic milliseconds. */
export interface Extent {
  /** Servers that are looked at; the rest of the OpenstackConfig stays as it is. */
  readonly scope: 'all' | readonly string[];
  /** Of all servers: what was seen before does not count; undefined = the pace says how old it may be. */
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

interface Said {
  /** When something was said of servers, by their ids. */
  readonly hints: ReadonlyMap<string, number>;
  readonly wholeAt: number | undefined;
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
/** Of more servers their objects are sooner read in a list. */
const mostAlone = 20;
const longAgo = Number.NEGATIVE_INFINITY;
/** A service that fails is not asked more often because much happens there. */
const restMs = 5_000;

/** Decides whether a look takes in all servers of an OpenstackConfig, or only those of which something was said. */
export class Looks {
  readonly #clock: Clock;
  readonly #memories = new Map<string, Memory>();
  readonly #said = new Map<string, Said>();
  /** What looks were begun with that have not ended well. */
  readonly #open = new Map<string, Said>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Something was said of these servers; answers whether they are looked at now, or when a look is due anyway. */
  note(key: string, servers: readonly string[]): boolean {
    if (servers.length === 0) return false;
    const at = this.#clock.monotonicMs();
    this.#say(key, { hints: new Map(servers.map((id) => [id, at])), wholeAt: undefined });
    return this.#mayLook(key);
  }

  /** More may have changed than anybody said; answers whether it is looked at now. */
  noteWhole(key: string): boolean {
    this.#say(key, { hints: new Map(), wholeAt: this.#clock.monotonicMs() });
    return this.#mayLook(key);
  }

  /** What is to be looked at now; what was said is said again to the next look, should this one not end well. */
  take(object: ConfigObject): Extent {
    const key = keyOf(object);
    const isAgain = this.#open.has(key);
    const { hints, wholeAt: since } = this.#begin(key);
    const hinted = { servers: [...hints.keys()], since: Math.max(longAgo, ...hints.values()) };
    const { nodeNames, accountAt } = this.#usable(object) ?? {};
    return nodeNames === undefined || since !== undefined || isAgain
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
    // Of what is said during the first look nobody knew yet whether to hasten one.
    const isWaitedFor = nodeNames !== undefined && this.#said.has(key);
    return isWaitedFor ? 0 : Math.max(0, dueAt - now);
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

  /** OpenstackConfigs of which the last look failed, as a whole or because a service did. */
  failed(): readonly string[] {
    const failed = [...this.#memories].filter(([, { nodeNames }]) => nodeNames === undefined);
    return failed.map(([key]) => key);
  }

  forget(key: string): void {
    for (const each of [this.#memories, this.#said, this.#open]) each.delete(key);
  }

  #say(key: string, { hints, wholeAt }: Said): void {
    const before = this.#said.get(key);
    this.#said.set(key, {
      hints: new Map([...(before?.hints ?? []), ...hints]),
      wholeAt: wholeAt ?? before?.wholeAt,
    });
  }

  /** Everything that was said since a look ended well. */
  #begin(key: string): Said {
    const now = this.#said.get(key);
    const before = this.#open.get(key);
    this.#said.delete(key);
    const said = {
      hints: new Map([...(before?.hints ?? []), ...(now?.hints ?? [])]),
      wholeAt: now?.wholeAt ?? before?.wholeAt,
    };
    if (said.hints.size > 0 || said.wholeAt !== undefined) this.#open.set(key, said);
    return said;
  }

  /** Some servers alone, or all of them with the others as they were seen last. */
  #part(
    { servers }: Extent['hinted'],
    nodeNames: Extent['nodeNames'],
    accountAt = Number.POSITIVE_INFINITY,
  ): Pick<Extent, 'scope' | 'since'> {
    const isFew = servers.length > 0 && servers.length <= mostAlone;
    const isSome = isFew && servers.every((id) => nodeNames.has(id));
    const isLate = this.#clock.monotonicMs() >= accountAt - slackMs;
    if (isSome && !isLate) return { scope: servers, since: undefined };
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
