import type { Source } from '../../api/node-configs-http.ts';
import type { Clock } from '../../time/clock.ts';
import type { ConfigContext } from '../memory/config-memory.ts';
import {
  type ConfigObject,
  generationOf,
  ownerOf,
  reconcileAtOf,
  statusOf,
} from '../openstack-config.ts';
import type { ResolvedConfig } from '../resolve/resolve.ts';
import type { SyncScope } from '../schedule/sync-scope.ts';

/** One sync of an OpenstackConfig. Every step gets it as it is; steps that read something add what they read. */
export interface SyncContext extends ConfigContext {
  readonly config: ResolvedConfig;
  readonly scope: SyncScope;
  /** Author of the nodes that are delivered. */
  readonly source: Source;
  readonly freshness: Freshness;
  /** Whether multinic.io/reconcile-at has a new value: everything is read and delivered again. */
  readonly isForced: boolean;
}

/** Oldest reads that a sync may use, in monotonic milliseconds; Infinity: only reads of this sync. */
interface Freshness {
  readonly portsSince: number;
  /** Of lists of the servers of the project. */
  readonly serversSince: number;
  /** Of networks and single servers; undefined: any age within the limits of the caches. */
  readonly cacheSince: number | undefined;
}

/** Starts a sync; a forced one reads everything again. */
export function syncContext(
  context: ConfigContext & Pick<SyncContext, 'config' | 'scope'>,
  clock: Pick<Clock, 'monotonicMs'>,
): SyncContext {
  const { object } = context;
  const isForced = isForcedSync(object);
  const now = clock.monotonicMs();
  const source = { ...ownerOf(object), generation: generationOf(object) };
  const freshness = isForced ? forced(now) : usual(context, now);
  return { ...context, source, isForced, freshness };
}

function forced(now: number): Freshness {
  const never = Number.POSITIVE_INFINITY;
  return { portsSince: never, serversSince: never, cacheSince: now };
}

function usual(
  { object, memory, config, scope: { since } }: Parameters<typeof syncContext>[0],
  now: number,
): Freshness {
  const serversMs = isEdited(object) ? editedMs : usualServersMs;
  return {
    portsSince: since ?? now - memory.pollInterval.maxAgeMs(config.polling),
    serversSince: Math.max(now - serversMs, since ?? Number.NEGATIVE_INFINITY),
    cacheSince: Number.isFinite(since) ? since : undefined,
  };
}

/** Longest age of server lists: names, metadata and tags hardly change, and a list costs Nova 6 ms for each server. */
const usualServersMs = 60_000;
/** Longest age after an edit, which may name a new server; OpenstackConfigs that are applied together share a list. */
const editedMs = 2_000;

function isEdited(object: ConfigObject): boolean {
  return statusOf(object).observedGeneration !== generationOf(object);
}

function isForcedSync(object: ConfigObject): boolean {
  const value = reconcileAtOf(object);
  return value !== '' && value !== statusOf(object).lastHandledReconcileAt;
}
