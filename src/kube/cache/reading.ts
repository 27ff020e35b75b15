import type { KubeObject } from '../object.ts';
import { defineResource, type Resource } from '../resource.ts';

/** One object as a reflector reads it: what it is, why it could not be read, or that it is known already. */
export type Reading<T> = KubeObject &
  (
    | { readonly object: T; readonly unreadable?: never; readonly known?: never }
    | { readonly unreadable: unknown; readonly known?: never }
    | { readonly known: true }
  );

export interface ReadingOptions<T> {
  readonly transform?: ((object: T) => T) | undefined;
  /** Exactly this version is stored: it need not be looked at, so that a relist of what has not changed keeps nothing. */
  readonly isKnown: (object: KubeObject) => boolean;
  /** Whether objects keep their managedFields; default: they are dropped. */
  readonly keepsManagedFields?: boolean | undefined;
}

/**
 * The resource whose reading never fails as a whole: an object that does not pass its check is marked instead of
 * failing its list or watch, so that one broken object does not hide all the others.
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

/** More than half of a stored object's memory, and most parts do not read them. */
function withoutManagedFields(object: KubeObject): KubeObject {
  const { managedFields: _, ...metadata } = object.metadata;
  return { ...object, metadata };
}
