import type { HeldNode, Source } from '../api/node-configs-http.ts';
import type { Store as ObjectStore } from '../kube/cache/store.ts';
import { keyOf } from '../kube/object.ts';
import type { CloudViews } from './observe/cloud-view.ts';
import {
  type ConfigObject,
  generationOf,
  hasLeaveToRemove,
  ownerOf,
  reconcileAtOf,
  statusOf,
  takeOverFromOf,
} from './openstack-config.ts';
import type { Pace } from './pace.ts';
import type { ResolvedConfig } from './resolve/resolve.ts';

/** What one sync of an OpenstackConfig is to bring about. */
export interface SyncRequest {
  readonly config: ResolvedConfig;
  readonly source: Source;
  /** NICs of the whole cloud among these nodes. */
  readonly cloudInterfaces: (held: readonly HeldNode[]) => number;
  readonly allowRemovals: boolean;
  readonly takeOverFrom: string;
  /** Somebody asked for a full look and delivery. */
  readonly force: boolean;
  /** How they asked, the same only for the same request; '' = nobody did. */
  readonly asked: string;
  /** How old shared observations may be. */
  readonly maxAgeMs: number;
}

interface SyncRequestDeps {
  readonly configs: Pick<ObjectStore<ConfigObject>, 'get'>;
  readonly views: Pick<CloudViews, 'companions'>;
  readonly pace: Pick<Pace, 'maxAgeMs'>;
}

/** What is to be done for an OpenstackConfig, annotations that were not acted upon yet included. */
export function syncRequestOf(
  object: ConfigObject,
  config: ResolvedConfig,
  { views, pace, configs }: SyncRequestDeps,
): SyncRequest {
  const { lastHandledReconcileAt } = statusOf(object);
  const force = isNew(reconcileAtOf(object), lastHandledReconcileAt);
  return {
    config,
    source: { ...ownerOf(object), generation: generationOf(object) },
    cloudInterfaces: (held) => interfacesOf(held, object, { views, configs }),
    allowRemovals: hasLeaveToRemove(object),
    takeOverFrom: takeOverFromOf(object),
    force,
    asked: force ? `${keyOf(object)} ${reconcileAtOf(object)}` : '',
    maxAgeMs: force ? 0 : pace.maxAgeMs(object, config.polling),
  };
}

function isNew(value: string, handled: string | undefined): boolean {
  return value !== '' && value !== handled;
}

/** NICs of the cloud: ours as they are held, and what the other OpenstackConfigs that share it say of theirs. */
function interfacesOf(
  held: readonly HeldNode[],
  object: ConfigObject,
  { views, configs }: Pick<SyncRequestDeps, 'views' | 'configs'>,
): number {
  const key = keyOf(object);
  const own = held.filter(({ source }) => source && keyOf(source) === key);
  const others = [...views.companions(key)].filter((companion) => companion !== key);
  return (
    own.reduce((sum, { spec }) => sum + (spec.interfaces?.length ?? 0), 0) +
    others.reduce((sum, other) => sum + deliveredBy(configs.get(other)), 0)
  );
}

function deliveredBy(object: ConfigObject | undefined): number {
  return (object && statusOf(object).summary?.interfaces) ?? 0;
}
