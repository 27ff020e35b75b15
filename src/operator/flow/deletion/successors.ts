import { type OpenstackConfigSpec, openstackConfigSpec } from '../../../api/openstackconfig.ts';
import type { Store as ObjectStore } from '../../../kube/cache/store.ts';
import { keyOf } from '../../../kube/object.ts';
import type { ConfigMemories, ConfigMemory } from '../../model/memory/config-memory.ts';
import { type ConfigObject, statusOf } from '../../model/openstack-config.ts';
import { providerIdOf } from '../../model/resolve/credentials.ts';
import type { OperatorSettings } from '../../model/settings/operator.ts';
import { decidedSinceMs } from '../schedule/decided-since.ts';

interface SuccessorDeps {
  readonly configs: Pick<ObjectStore<ConfigObject>, 'list'>;
  readonly settings: Pick<OperatorSettings, 'defaultK8sProviderId'>;
}

/** Returns the live OpenstackConfigs for the same business cluster and project with possibly shared servers. */
export function possibleSuccessors(
  object: ConfigObject,
  { configs, settings }: SuccessorDeps,
): ConfigObject[] {
  const clusters = clustersOf(object, settings);
  return configs.list().filter((other) => {
    const isLive = other.metadata.deletionTimestamp === undefined;
    const isThere = clusters.has(providerIdOf(other, settings) ?? '');
    return isLive && isThere && mayShareServers(object, other);
  });
}

/**
 * Returns an undecided possible successor (`namespace/name`), such as a paused, refused or failing successor: no sync
 * started after `since` (monotonic ms) has decided about all nodes. Undefined: none.
 */
export function undecidedSuccessor(
  object: ConfigObject,
  since: number,
  { memories, ...deps }: SuccessorDeps & { readonly memories: Pick<ConfigMemories, 'find'> },
): string | undefined {
  return possibleSuccessors(object, deps)
    .map(keyOf)
    .find((key) => decidedAt(memories.find(key)) < since);
}

/** Monotonic ms; -1: no sync has decided in this term. */
function decidedAt(memory: ConfigMemory | undefined): number {
  return (memory && decidedSinceMs.of(memory.term)) ?? -1;
}

function clustersOf(object: ConfigObject, settings: SuccessorDeps['settings']): Set<string> {
  const present = providerIdOf(object, settings);
  return new Set([...(statusOf(object).deliveredTo ?? []), ...(present ? [present] : [])]);
}

/** False if the specs name different servers or projects; unreadable specs may share servers. */
function mayShareServers(a: ConfigObject, b: ConfigObject): boolean {
  const [one, two] = [specOf(a), specOf(b)];
  if (one === undefined || two === undefined) return true;
  const [projectA, projectB] = [one, two].map(({ credentials }) => credentials?.projectID?.trim());
  if (projectA && projectB && projectA !== projectB) return false;
  if (one.vmSelector !== undefined || two.vmSelector !== undefined) return true;
  const names = new Set(namesOf(one));
  return namesOf(two).some((name) => names.has(name));
}

function specOf({ spec }: ConfigObject): OpenstackConfigSpec | undefined {
  return openstackConfigSpec.safeParse(spec).data;
}

function namesOf({ vmNames = [] }: OpenstackConfigSpec): string[] {
  return vmNames.map((name) => name.trim().toLowerCase());
}
