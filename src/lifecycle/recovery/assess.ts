import { annotations, fieldManagers } from '../../api/names.ts';
import { isOlder } from '../../kube/cache/resource-version.ts';
import type { KubeObject } from '../../kube/object.ts';
import type { LostFields } from '../model/outcome.ts';
import type { FieldPaths } from './field-sets.ts';
import { deleted, lostFields } from './lost-fields.ts';

/** Last known state of an object, from this process's write or check. */
export interface Memory {
  /** Hash of the desired content. */
  readonly hash: string;
  readonly version: string;
  /** Fields owned by lifecycle at that time. */
  readonly owned: FieldPaths;
}

export type Assessment =
  | { readonly what: 'as-wanted' }
  /** Missing, and never observed by this process. */
  | { readonly what: 'new' }
  /** The desired content differs from the applied content. */
  | { readonly what: 'outdated' }
  /** Applied by an earlier process; later foreign changes are unknown. */
  | { readonly what: 'unknown' }
  /** Deleted, or changed by another manager. */
  | { readonly what: 'disturbed'; readonly lost: LostFields };

/** Compares a live object with the desired content and the last known state. */
export function assess(
  live: KubeObject | undefined,
  memory: Memory | undefined,
  hash: string,
): Assessment {
  if (memory && memory.hash !== hash) return { what: 'outdated' };
  if (!live) return memory ? { what: 'disturbed', lost: deleted } : { what: 'new' };
  const isApplied = live.metadata.annotations?.[annotations.applied] === hash;
  if (!memory) return { what: isApplied ? 'unknown' : 'outdated' };
  return assessKnown(live, memory, isApplied);
}

function assessKnown(live: KubeObject, memory: Memory, isApplied: boolean): Assessment {
  const { resourceVersion = '' } = live.metadata;
  // A lagging watch shows the object before our own write.
  if (isOlder(resourceVersion, memory.version)) return { what: 'as-wanted' };
  const lost = lostFields(memory.owned, live, fieldManagers.lifecycle);
  if (lost) return { what: 'disturbed', lost };
  return { what: isApplied ? 'as-wanted' : 'outdated' };
}
