import { keyOf } from '../../../kube/object.ts';
import { nextSyncAt } from '../../flow/triggers/next-sync.ts';
import { latestObject } from '../../model/memory/latest-object.ts';
import type { ConfigObject } from '../../model/openstack-config.ts';
import { type ResolvedConfig, resolveConfig } from '../../model/resolve/resolve.ts';
import type { ConfigReads } from './config-reads.ts';
import { configReads } from './config-reads.ts';
import type { ReadDeps } from './read-deps.ts';

/** OpenstackConfig visible to the caller. */
export interface VisibleConfig {
  /** `namespace/name`. */
  readonly key: string;
  readonly object: ConfigObject;
  /** Undefined: a field is unusable. */
  readonly resolved: ResolvedConfig | undefined;
  /** Last full sync; undefined: none in this term. */
  readonly reads: ConfigReads | undefined;
  readonly nextSyncAt: Date | undefined;
}

/** Returns the OpenstackConfigs in these business clusters; undefined: in all. */
export function visibleConfigs(
  deps: Pick<ReadDeps, 'configs' | 'memories' | 'settings'>,
  providers: readonly string[] | undefined,
): VisibleConfig[] {
  const all = deps.configs.list().map((object) => configOf(object, deps));
  return all.filter((config) => isVisibleTo(providers, clustersBehind(config)));
}

function configOf(
  cached: ConfigObject,
  { memories, settings }: Pick<ReadDeps, 'memories' | 'settings'>,
): VisibleConfig {
  const key = keyOf(cached);
  const found = memories.find(key);
  // A recreated object has a new memory.
  const memory = found?.uid === cached.metadata.uid ? found : undefined;
  const object = memory ? latestObject({ object: cached, memory }) : cached;
  return {
    key,
    object,
    resolved: resolvedOf(cached, settings),
    reads: memory && configReads.of(memory.term),
    nextSyncAt: memory && nextSyncAt.of(memory.term),
  };
}

/** Resolved settings per object version: the operator's settings never change. */
const known = new WeakMap<ConfigObject, { readonly config: ResolvedConfig | undefined }>();

function resolvedOf(
  object: ConfigObject,
  settings: ReadDeps['settings'],
): ResolvedConfig | undefined {
  const before = known.get(object);
  if (before) return before.config;
  const resolution = resolveConfig(object, settings);
  const config = resolution.kind === 'resolved' ? resolution.config : undefined;
  known.set(object, { config });
  return config;
}

/** Returns the business clusters behind an OpenstackConfig's rows: from the spec, and from the last sync. */
export function clustersBehind({
  resolved,
  reads,
}: Pick<VisibleConfig, 'resolved' | 'reads'>): string[] {
  return [resolved?.providerId, reads?.providerId].filter((id) => id !== undefined);
}

/** Returns whether a caller with these business clusters may read rows behind `clusters`; undefined: every row. */
export function isVisibleTo(
  providers: readonly string[] | undefined,
  clusters: readonly string[],
): boolean {
  if (providers === undefined) return true;
  return clusters.length > 0 && clusters.every((id) => providers.includes(id));
}
