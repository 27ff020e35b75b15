import { pauseOf } from '../../api/pause.ts';
import type { Store as ObjectStore } from '../../kube/cache/store.ts';
import { keyOf } from '../../kube/object.ts';
import type { ConfigMemories } from '../memory/config-memory.ts';
import { type ConfigObject, statusOf } from '../openstack-config.ts';
import { providerIdOf } from '../resolve/credentials.ts';
import type { OperatorSettings } from '../settings.ts';

/** Milliseconds after a deletion at which NICs leave even without a sync by a possible successor. */
const mostWaitMs = 300_000;

interface SuccessorDeps {
  readonly configs: Pick<ObjectStore<ConfigObject>, 'list'>;
  readonly settings: Pick<OperatorSettings, 'defaultK8sProviderId'>;
}

/** Returns the live OpenstackConfigs for the same business cluster as possible successors for the object's nodes. */
export function possibleSuccessors(
  object: ConfigObject,
  { configs, settings }: SuccessorDeps,
): ConfigObject[] {
  const clusters = clustersOf(object, settings);
  return configs.list().filter((other) => {
    const isLive = other.metadata.deletionTimestamp === undefined;
    return isLive && clusters.has(providerIdOf(other, settings) ?? '');
  });
}

/**
 * Returns the milliseconds after the deletion until which NICs stay: possible successors must first complete a full
 * sync started after `since` (monotonic ms).
 */
export function successorWaitMs(
  object: ConfigObject,
  since: number,
  { memories, ...deps }: SuccessorDeps & { readonly memories: Pick<ConfigMemories, 'find'> },
): number {
  const isAwaited = possibleSuccessors(object, deps).some((other) => {
    const syncedSinceMs = memories.find(keyOf(other))?.term.syncedSinceMs ?? -1;
    return !pauseOf(other).isPaused && syncedSinceMs < since;
  });
  return isAwaited ? mostWaitMs : 0;
}

function clustersOf(object: ConfigObject, settings: SuccessorDeps['settings']): Set<string> {
  const present = providerIdOf(object, settings);
  return new Set([...(statusOf(object).deliveredTo ?? []), ...(present ? [present] : [])]);
}
