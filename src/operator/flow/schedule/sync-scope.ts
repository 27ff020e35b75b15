import type { OperatorReason } from '../../../api/reasons.ts';
import type { Clock } from '../../../time/clock.ts';
import type { ConfigMemory } from '../../model/memory/config-memory.ts';
import { Slot } from '../../model/memory/slot.ts';
import { type ConfigObject, needsReconcile } from '../../model/openstack-config.ts';
import type { SyncScope } from '../../model/sync-scope.ts';
import type { SyncResult } from '../../report/result.ts';

/** Result from a sync of all servers, used by the next syncs. */
interface CompletedSync {
  /** Milliseconds until the next poll. */
  readonly nextMs: number;
  /** See nodeNamesIn; undefined: the sync failed. */
  readonly nodeNames: ReadonlyMap<string, string> | undefined;
}

/** Cloud events that no sync has handled. */
interface Events {
  /** Last event time by server id. */
  readonly servers: ReadonlyMap<string, number>;
  /** Time of the last event that may concern any server. */
  readonly wholeAt: number | undefined;
}

interface LastSync extends Pick<CompletedSync, 'nodeNames'> {
  /** The OpenstackConfig at the time of the sync. */
  readonly object: ConfigObject;
  readonly endedAt: number;
  readonly dueAt: number;
  /** Deadline for status and inventory; undefined: no partial sync has ended since. */
  readonly followUpAt: number | undefined;
}

/** Timers may fire this much early. */
const slackMs = 20;
/**
 * Delay before a partial sync is followed by a sync of all servers with older reads for the rest: status and
 * inventory cover all servers.
 */
const followUpMs = 2_000;
/** Above this number a list is faster than single object reads. */
const mostAlone = 20;
const longAgo = Number.NEGATIVE_INFINITY;
/** A cloud event cannot start a retry earlier than this after a failed sync. */
const restMs = 5_000;

/** Decides whether an OpenstackConfig's next sync reads all servers, or only servers with cloud events. */
class PendingScope {
  readonly #clock: Clock;
  #last: LastSync | undefined;
  #events: Events | undefined;
  /** Events from syncs without success yet. */
  #unhandled: Events | undefined;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /**
   * Records an event for these servers. Returns whether to sync now; false: wait until the next sync is due.
   */
  noteServers(servers: readonly string[]): boolean {
    if (servers.length === 0) return false;
    const at = this.#clock.monotonicMs();
    this.#note({ servers: new Map(servers.map((id) => [id, at])), wholeAt: undefined });
    return this.#mayHasten();
  }

  /** Records an event that may concern any server; returns whether to sync now. */
  noteAll(): boolean {
    this.#note({ servers: new Map(), wholeAt: this.#clock.monotonicMs() });
    return this.#mayHasten();
  }

  /** Returns the scope to sync now. If this sync fails, the next scope repeats the events. */
  take(object: ConfigObject): SyncScope {
    const isAgain = this.#unhandled !== undefined;
    const { servers, wholeAt: since } = this.#takeEvents();
    const events = { servers: [...servers.keys()], since: Math.max(longAgo, ...servers.values()) };
    const { nodeNames, followUpAt } = this.#usable(object) ?? {};
    return nodeNames === undefined || since !== undefined || isAgain
      ? { servers: 'all', since, events, nodeNames: new Map() }
      : { ...this.#part(events, nodeNames, followUpAt), events, nodeNames };
  }

  /** Records the end of a sync of all servers; returns the milliseconds until the next sync. */
  endedAll(
    object: ConfigObject,
    { since }: SyncScope,
    { nextMs, nodeNames }: CompletedSync,
  ): number {
    const now = this.#clock.monotonicMs();
    const before = this.#last?.dueAt ?? Number.POSITIVE_INFINITY;
    // A sync that reuses older reads for the remaining servers does not defer their poll.
    const longest = since === longAgo ? before : Number.POSITIVE_INFINITY;
    const dueAt = Math.min(now + nextMs, longest);
    if (nodeNames !== undefined) this.#unhandled = undefined;
    this.#last = { object, nodeNames, endedAt: now, dueAt, followUpAt: undefined };
    // An event during the first sync could not start a sync earlier.
    const isWaitedFor = nodeNames !== undefined && this.#events !== undefined;
    return isWaitedFor ? 0 : Math.max(0, dueAt - now);
  }

  /** Records the end of a partial sync; returns the milliseconds until a sync of all servers. */
  endedSome(object: ConfigObject): number {
    const now = this.#clock.monotonicMs();
    const last = this.#usable(object);
    if (last === undefined) return 0;
    this.#unhandled = undefined;
    const { followUpAt = now + followUpMs } = last;
    this.#last = { ...last, followUpAt };
    return Math.max(0, Math.min(followUpAt, last.dueAt) - now);
  }

  /** Whether the last sync failed, as a whole or because a service failed. */
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

  /** Takes every event since the last successful sync. */
  #takeEvents(): Events {
    const now = this.#events;
    const before = this.#unhandled;
    this.#events = undefined;
    const events = {
      servers: new Map([...(before?.servers ?? []), ...(now?.servers ?? [])]),
      wholeAt: now?.wholeAt ?? before?.wholeAt,
    };
    if (events.servers.size > 0 || events.wholeAt !== undefined) this.#unhandled = events;
    return events;
  }

  /**
   * Returns a scope with a few servers alone, or with all servers and older reads for servers without events.
   */
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

  /** Returns the last sync, unless a sync of all servers is due. */
  #usable(object: ConfigObject): LastSync | undefined {
    const last = this.#last;
    if (last === undefined || needsReconcile(last.object, object)) return undefined;
    return this.#clock.monotonicMs() < last.dueAt - slackMs ? last : undefined;
  }

  #mayHasten(): boolean {
    // The first sync cannot start earlier.
    if (this.#last === undefined) return false;
    return !this.hasFailed || this.#clock.monotonicMs() - this.#last.endedAt >= restMs;
  }
}

/** The scope that the next sync of an OpenstackConfig takes. */
export const pendingScope = new Slot(({ clock }: ConfigMemory) => new PendingScope(clock));

const blocking: ReadonlySet<string> = new Set<OperatorReason>([
  'InvalidNodeName',
  'NameConflict',
  'NovaServerError',
  'ServerNotFound',
]);

/**
 * Returns the objects for partial syncs, by server id: the server has exactly one object, the object is
 * readable, and no other OpenstackConfig claims the object. undefined: a service fails.
 */
export function nodeNamesIn(
  synced: Pick<SyncResult, 'nodes' | 'problems' | 'isOutage' | 'unreadable'>,
): CompletedSync['nodeNames'] {
  const { nodes, problems, unreadable, isOutage } = synced;
  if (isOutage) return undefined;
  const blocked = new Set([
    ...problems.flatMap((one) => (blocking.has(one.reason) && 'subject' in one ? one.subject : [])),
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
