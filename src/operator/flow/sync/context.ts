import type { Clock } from '../../../time/clock.ts';
import type { ConfigContext } from '../../model/memory/config-memory.ts';
import {
  type ConfigObject,
  generationOf,
  ownerOf,
  reconcileAtOf,
  statusOf,
} from '../../model/openstack-config.ts';
import type { Freshness, PlanContext, SyncContext } from '../../model/sync-context.ts';
import { wholeScope } from '../../model/sync-scope.ts';
import { pollInterval } from '../schedule/poll-interval.ts';

/** Starts a sync; a forced sync reads everything again. */
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

/** Starts a what-if: all servers, with ports as they are now. */
export function whatIfContext(
  { object, config }: Pick<PlanContext, 'object' | 'config'>,
  clock: Pick<Clock, 'monotonicMs'>,
): PlanContext {
  const now = clock.monotonicMs();
  const source = { ...ownerOf(object), generation: generationOf(object) };
  const freshness = { portsSince: now, serversSince: now - editedMs, cacheSince: undefined };
  return { object, config, scope: wholeScope, source, freshness, isForced: false };
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
    portsSince: since ?? now - pollInterval.of(memory).maxAgeMs(config.polling),
    serversSince: Math.max(now - serversMs, since ?? Number.NEGATIVE_INFINITY),
    cacheSince: Number.isFinite(since) ? since : undefined,
  };
}

/**
 * Longest age for server lists: names, metadata and tags rarely change, and a list costs Nova 6 ms per
 * server.
 */
const usualServersMs = 60_000;
/** Longest age after an edit, which may add a server; OpenstackConfigs applied together share a list. */
const editedMs = 2_000;

function isEdited(object: ConfigObject): boolean {
  return statusOf(object).observedGeneration !== generationOf(object);
}

function isForcedSync(object: ConfigObject): boolean {
  const value = reconcileAtOf(object);
  return value !== '' && value !== statusOf(object).lastHandledReconcileAt;
}
