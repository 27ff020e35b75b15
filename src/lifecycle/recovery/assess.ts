import { annotations, fieldManagers } from '../../api/names.ts';
import { isOlder } from '../../kube/cache/resource-version.ts';
import type { KubeObject } from '../../kube/object.ts';
import type { FieldPaths } from './field-sets.ts';
import { deleted, type LostFields, lostFields } from './lost-fields.ts';

/** What this process knows of an object since it wrote or checked it. */
export interface Memory {
  /** Hash of the content that lifecycle wants. */
  readonly hash: string;
  readonly version: string;
  /** Fields that lifecycle owned then. */
  readonly owned: FieldPaths;
}

export type Assessment =
  | { readonly what: 'as-wanted' }
  /** Missing, and this process never saw it. */
  | { readonly what: 'new' }
  /** The wanted content is another one than what was applied. */
  | { readonly what: 'outdated' }
  /** Applied by an earlier process: who changed it since is unknown. */
  | { readonly what: 'unknown' }
  /** Deleted, or changed by another manager. */
  | { readonly what: 'disturbed'; readonly lost: LostFields };

/** Compares a live object with what lifecycle wants and remembers. */
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
  // A watch that is behind shows the object as it was before our own write.
  if (isOlder(resourceVersion, memory.version)) return { what: 'as-wanted' };
  const lost = lostFields(memory.owned, live, fieldManagers.lifecycle);
  if (lost) return { what: 'disturbed', lost };
  return { what: isApplied ? 'as-wanted' : 'outdated' };
}
