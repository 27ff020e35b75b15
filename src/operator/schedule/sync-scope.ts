import type { OperatorReason } from '../../api/reasons.ts';
import type { Clock } from '../../time/clock.ts';
import { asksForWork, type ConfigObject } from '../openstack-config.ts';
import type { SyncResult } from '../sync/result.ts';

/** What one sync reads again. Times are monotonic milliseconds. */
export interface SyncScope {
  /** Servers that are synced; the other servers of the OpenstackConfig stay as they are. */
  readonly servers: 'all' | readonly string[];
  /** Older reads of any server do not count; undefined: the poll interval limits their age. */
  readonly since: number | undefined;
  /** Servers with cloud events, and the time of the last event: older reads of these servers do not count. */
  readonly events: { readonly servers: readonly string[]; readonly since: number };
  /** Names of the objects of servers that may be synced alone, by server id. */
  readonly nodeNames: ReadonlyMap<string, string>;
}

/** What a sync of all servers leaves for the next syncs. */
interface CompletedSync {
  /** Milliseconds until the next poll. */
  readonly nextMs: number;
  /** See nodeNamesIn; undefined: the sync failed. */
  readonly nodeNames: ReadonlyMap<string, string> | undefined;
}

/** Cloud events that no sync has answered. */
interface Events {
  /** Time of the last event by server id. */
  readonly servers: ReadonlyMap<string, number>;
  /** Time of the last event that may concern any server. */
  readonly wholeAt: number | undefined;
}

interface LastSync extends Pick<CompletedSync, 'nodeNames'> {
  /** The OpenstackConfig at the time of the sync. */
  readonly object: ConfigObject;
  readonly endedAt: number;
  readonly dueAt: number;
  /** When status and inventory have to follow; undefined: no sync of some servers has ended since. */
  readonly followUpAt: number | undefined;
}

/** Timers may ring early by this. */
const slackMs = 20;
/** Status and inventory cover all servers: a sync of all follows a sync of some after this, with older reads of the rest. */
const followUpMs = 2_000;
/** The objects of more servers than this are read faster by one list. */
const mostAlone = 20;
const longAgo = Number.NEGATIVE_INFINITY;
/** Cloud events do not hasten the retry of a failed sync before this. */
const restMs = 5_000;

/** Decides whether the next sync of an OpenstackConfig reads all of its servers, or only those with cloud events. */
export class PendingScope {
  readonly #clock: Clock;
  #last: LastSync | undefined;
  #events: Events | undefined;
  /** Events of syncs that have not ended well. */
  #open: Events | undefined;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Notes an event of these servers; returns whether they are synced now, or when a sync is due anyway. */
  noteServers(servers: readonly string[]): boolean {
    if (servers.length === 0) return false;
    const at = this.#clock.monotonicMs();
    this.#note({ servers: new Map(servers.map((id) => [id, at])), wholeAt: undefined });
    return this.#mayHasten();
  }

  /** Notes an event that may concern any server; returns whether the OpenstackConfig is synced now. */
  noteAll(): boolean {
    this.#note({ servers: new Map(), wholeAt: this.#clock.monotonicMs() });
    return this.#mayHasten();
  }

  /** Returns what to sync now. The events come again with the next sync if this one does not end well. */
  take(object: ConfigObject): SyncScope {
    const isAgain = this.#open !== undefined;
    const { servers, wholeAt: since } = this.#takeEvents();
    const events = { servers: [...servers.keys()], since: Math.max(longAgo, ...servers.values()) };
    const { nodeNames, followUpAt } = this.#usable(object) ?? {};
    return nodeNames === undefined || since !== undefined || isAgain
      ? { servers: 'all', since, events, nodeNames: new Map() }
      : { ...this.#part(events, nodeNames, followUpAt), events, nodeNames };
  }

  /** Notes the end of a sync of all servers; returns the milliseconds until the next sync. */
  endedAll(
    object: ConfigObject,
    { since }: SyncScope,
    { nextMs, nodeNames }: CompletedSync,
  ): number {
    const now = this.#clock.monotonicMs();
    const before = this.#last?.dueAt ?? Number.POSITIVE_INFINITY;
    // A sync with older reads of the other servers does not defer their poll.
    const longest = since === longAgo ? before : Number.POSITIVE_INFINITY;
    const dueAt = Math.min(now + nextMs, longest);
    if (nodeNames !== undefined) this.#open = undefined;
    this.#last = { object, nodeNames, endedAt: now, dueAt, followUpAt: undefined };
    // An event during the first sync could not hasten anything yet.
    const isWaitedFor = nodeNames !== undefined && this.#events !== undefined;
    return isWaitedFor ? 0 : Math.max(0, dueAt - now);
  }

  /** Notes the end of a sync of some servers; returns the milliseconds until a sync of all. */
  endedSome(object: ConfigObject): number {
    const now = this.#clock.monotonicMs();
    const last = this.#usable(object);
    if (last === undefined) return 0;
    this.#open = undefined;
    const { followUpAt = now + followUpMs } = last;
    this.#last = { ...last, followUpAt };
    return Math.max(0, Math.min(followUpAt, last.dueAt) - now);
  }

  /** Whether the last sync failed, as a whole or because of a service. */
  get hasFailed(): boolean {
    return this.#last !== undefined && this.#last.nodeNames === undefined;
  }

  #note({ servers, wholeAt }: Events): void {
    const before = this.#events;
    this.#events = {
      servers: new Map([...(before?.servers ?? []), ...servers]),
      wholeAt: wholeAt ?? before?.wholeAt,
    };
  }

  /** Takes every event since a sync ended well. */
  #takeEvents(): Events {
    const now = this.#events;
    const before = this.#open;
    this.#events = undefined;
    const events = {
      servers: new Map([...(before?.servers ?? []), ...(now?.servers ?? [])]),
      wholeAt: now?.wholeAt ?? before?.wholeAt,
    };
    if (events.servers.size > 0 || events.wholeAt !== undefined) this.#open = events;
    return events;
  }

  /** Some servers alone, or all servers with older reads of those without events. */
  #part(
    { servers }: SyncScope['events'],
    nodeNames: SyncScope['nodeNames'],
    followUpAt = Number.POSITIVE_INFINITY,
  ): Pick<SyncScope, 'servers' | 'since'> {
    const isFew = servers.length > 0 && servers.length <= mostAlone;
    const isSome = isFew && servers.every((id) => nodeNames.has(id));
    const isLate = this.#clock.monotonicMs() >= followUpAt - slackMs;
    if (isSome && !isLate) return { servers, since: undefined };
    const isFollowUp = servers.length > 0 || followUpAt < Number.POSITIVE_INFINITY;
    return { servers: 'all', since: isFollowUp ? longAgo : undefined };
  }

  /** The last sync, unless a sync of all servers is due. */
  #usable(object: ConfigObject): LastSync | undefined {
    const last = this.#last;
    if (last === undefined || asksForWork(last.object, object)) return undefined;
    return this.#clock.monotonicMs() < last.dueAt - slackMs ? last : undefined;
  }

  #mayHasten(): boolean {
    // The first sync cannot be hastened.
    if (this.#last === undefined) return false;
    return !this.hasFailed || this.#clock.monotonicMs() - this.#last.endedAt >= restMs;
  }
}

const blocking: ReadonlySet<string> = new Set<OperatorReason>([
  'InvalidNodeName',
  'NameConflict',
  'NovaServerError',
  'ServerNotFound',
]);

/**
 * Returns the objects of servers that a sync may read alone, by server id: the server has one object, which can be read and
 * which no other OpenstackConfig claims. undefined: a service fails.
 */
export function nodeNamesIn(
  synced: Pick<SyncResult, 'nodes' | 'troubles' | 'isOutage' | 'unreadable'>,
): CompletedSync['nodeNames'] {
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
