import type { KubeObject } from '../object.ts';
import { defineResource, type Resource } from '../resource.ts';

/** An object as read by a reflector: parsed, unreadable, or already known. */
export type Reading<T> = KubeObject &
  (
    | { readonly object: T; readonly unreadable?: never; readonly known?: never }
    | { readonly unreadable: unknown; readonly known?: never }
    | { readonly known: true }
  );

export interface ReadingOptions<T> {
  readonly transform?: ((object: T) => T) | undefined;
  /**
   * True if exactly this version is stored: parsing is skipped, and relisting unchanged objects retains no new
   * memory.
   */
  readonly isKnown: (object: KubeObject) => boolean;
  /** True: objects keep managedFields; default: dropped. */
  readonly keepsManagedFields?: boolean | undefined;
}

/**
 * Returns a resource with per-object parse results: an unreadable object is marked instead of failing its list or
 * watch, and hides no other object.
 */
export function readingsOf<T extends KubeObject>(
  resource: Resource<T>,
  { transform = (object) => object, isKnown, keepsManagedFields = false }: ReadingOptions<T>,
): Resource<Reading<T>> {
  return defineResource<Reading<T>>({
    ...resource,
    parse: (raw) => {
      const read = keepsManagedFields
        ? (raw as KubeObject)
        : withoutManagedFields(raw as KubeObject);
      const { metadata } = read;
      if (isKnown(read)) return { metadata, known: true };
      try {
        return { metadata, object: transform(resource.parse?.(read) ?? (read as T)) };
      } catch (unreadable) {
        return { metadata, unreadable };
      }
    },
  });
}

/** Drops managedFields: more than half of an object's memory, and unused by most parts. */
function withoutManagedFields(object: KubeObject): KubeObject {
  const { managedFields: _, ...metadata } = object.metadata;
  return { ...object, metadata };
}
