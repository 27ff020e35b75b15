import type { ExistingNodeConfig, Source } from '../../api/node-configs-http.ts';
import type { Store as ObjectStore } from '../../kube/cache/store.ts';
import { keyOf } from '../../kube/object.ts';
import type { Clock } from '../../time/clock.ts';
import type { CloudViews } from '../observe/cloud-view.ts';
import {
  type ConfigObject,
  generationOf,
  handOverToOf,
  hasLeaveToRemove,
  ownerOf,
  reconcileAtOf,
  statusOf,
  takeOverFromOf,
} from '../openstack-config.ts';
import type { ResolvedConfig } from '../resolve/resolve.ts';
import type { Pace } from '../schedule/poll-interval.ts';
import type { Extent } from '../schedule/scope.ts';
import type { OperatorSettings } from '../settings.ts';
import { type TakenOffByHand, takenOffByHand } from './taken-off-by-hand.ts';

/** What one sync of an OpenstackConfig is to bring about. */
export interface SyncRequest {
  readonly config: ResolvedConfig;
  readonly source: Source;
  readonly extent: Extent;
  /** Nothing seen before this counts: monotonic milliseconds; Infinity = what was not asked for in this sync. */
  readonly since: number;
  /** What is remembered of networks and servers from before this is read again; undefined = it may be minutes old. */
  readonly freshSince: number | undefined;
  /** The same for lists of the servers of the project. */
  readonly serversSince: number;
  /** NICs of the whole cloud among these nodes. */
  readonly cloudInterfaces: (held: readonly ExistingNodeConfig[]) => number;
  readonly allowRemovals: boolean;
  /** What a user has removed behind a legacy Viola. */
  readonly takenOffByHand: TakenOffByHand;
  /** Another OpenstackConfig whose nodes may be taken over, because it is gone or agrees; '' = none. */
  readonly takeOverFrom: string;
  /** Somebody asked for a full look and delivery. */
  readonly force: boolean;
  /** How they asked, the same only for the same request; '' = nobody did. */
  readonly asked: string;
}

interface SyncRequestDeps {
  readonly configs: Pick<ObjectStore<ConfigObject>, 'get'>;
  readonly views: Pick<CloudViews, 'companions'>;
  readonly pace: Pick<Pace, 'maxAgeMs'>;
  readonly clock: Pick<Clock, 'monotonicMs'>;
  readonly settings: Pick<OperatorSettings, 'watchNamespace'>;
}

/** What is to be done for an OpenstackConfig, annotations that were not acted upon yet included. */
export function syncRequestOf(
  object: ConfigObject,
  config: ResolvedConfig,
  extent: Extent,
  { views, pace, configs, clock, settings }: SyncRequestDeps,
): SyncRequest {
  const { lastHandledReconcileAt } = statusOf(object);
  const force = isNew(reconcileAtOf(object), lastHandledReconcileAt);
  const now = clock.monotonicMs();
  const usual = () => now - pace.maxAgeMs(object, config.polling);
  const serversMs = isEdited(object) ? editedMs : usualServersMs;
  return {
    config,
    extent,
    since: force ? Number.POSITIVE_INFINITY : (extent.since ?? usual()),
    freshSince: force ? now : finite(extent.since),
    serversSince: force
      ? Number.POSITIVE_INFINITY
      : Math.max(now - serversMs, extent.since ?? Number.NEGATIVE_INFINITY),
    source: { ...ownerOf(object), generation: generationOf(object) },
    cloudInterfaces: (held) =>
      othersInterfaces(object, { views, configs }) +
      (extent.scope === 'all' ? ownInterfaces(held, object) : deliveredBy(object)),
    allowRemovals: hasLeaveToRemove(object),
    takenOffByHand: takenOffByHand(object),
    takeOverFrom: permittedTakeOver(object, { configs, settings }),
    force,
    asked: force ? `${keyOf(object)} ${reconcileAtOf(object)}` : '',
  };
}

/** An OpenstackConfig that this operator does not watch may be there. */
function permittedTakeOver(
  object: ConfigObject,
  { configs, settings }: Pick<SyncRequestDeps, 'configs' | 'settings'>,
): string {
  const from = takeOverFromOf(object);
  const other = configs.get(from);
  if (other) return handOverToOf(other) === keyOf(object) ? from : '';
  const { watchNamespace } = settings;
  return watchNamespace === undefined || from.startsWith(`${watchNamespace}/`) ? from : '';
}

/** Names, metadata and tags hardly ever change, and a list costs Nova 6 ms for each server of the project. */
const usualServersMs = 60_000;
/** Who edits an object has just made the server that it names; many that are applied together share a list. */
const editedMs = 2_000;

function isEdited(object: ConfigObject): boolean {
  return statusOf(object).observedGeneration !== generationOf(object);
}

function finite(since = Number.NaN): number | undefined {
  return Number.isFinite(since) ? since : undefined;
}

function isNew(value: string, handled: string | undefined): boolean {
  return value !== '' && value !== handled;
}

/** NICs of ours as they are held. */
function ownInterfaces(held: readonly ExistingNodeConfig[], object: ConfigObject): number {
  const key = keyOf(object);
  const own = held.filter(({ source }) => source && keyOf(source) === key);
  return own.reduce((sum, { spec }) => sum + (spec.interfaces?.length ?? 0), 0);
}

/** What the other OpenstackConfigs that share the cloud say of theirs. */
function othersInterfaces(
  object: ConfigObject,
  { views, configs }: Pick<SyncRequestDeps, 'views' | 'configs'>,
): number {
  const key = keyOf(object);
  const others = [...views.companions(key)].filter((companion) => companion !== key);
  return others.reduce((sum, other) => sum + deliveredBy(configs.get(other)), 0);
}

function deliveredBy(object: ConfigObject | undefined): number {
  return (object && statusOf(object).summary?.interfaces) ?? 0;
}
