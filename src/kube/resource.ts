import type { KubeObject, ObjectRef } from './object.ts';

/** A served kind, with its object type. */
export interface Resource<T extends KubeObject> {
  /** '' is the core group. */
  readonly group: string;
  readonly version: string;
  readonly plural: string;
  readonly kind: string;
  readonly namespaced: boolean;
  /** The objects' `apiVersion` if different from the path: some subresources take kinds from another group. */
  readonly objectVersion?: string;
  /** Checks every read object; throws if not a `T`. */
  readonly parse?: (raw: unknown) => T;
}

/** Declares a resource; the result is frozen and stateless. */
export function defineResource<T extends KubeObject>(resource: Resource<T>): Resource<T> {
  return Object.freeze({ ...resource });
}

/** Returns `v1` or `group/version`, as in `apiVersion`. */
export function apiVersionOf(resource: Resource<KubeObject>): string {
  return resource.group === '' ? resource.version : `${resource.group}/${resource.version}`;
}

/** Returns the objects' `apiVersion`. */
export function objectVersionOf(resource: Resource<KubeObject>): string {
  return resource.objectVersion ?? apiVersionOf(resource);
}

/** Returns the collection path, for all namespaces if none is given. */
export function collectionPath(resource: Resource<KubeObject>, namespace?: string): string {
  const root = resource.group === '' ? '/api' : '/apis';
  const scope =
    resource.namespaced && namespace !== undefined ? `/namespaces/${segment(namespace)}` : '';
  return `${root}/${apiVersionOf(resource)}${scope}/${resource.plural}`;
}

/** Returns an object's path; throws without a name, or without the namespace a namespaced resource needs. */
export function objectPath(resource: Resource<KubeObject>, ref: ObjectRef): string {
  if (resource.namespaced && !ref.namespace) {
    throw new TypeError(
      `${resource.kind} ${ref.name} is namespaced: metadata.namespace is missing`,
    );
  }
  return `${collectionPath(resource, ref.namespace)}/${segment(ref.name)}`;
}

/** Encodes a path segment; refuses dots, because encoding keeps them and `..` leads to another resource. */
function segment(name: string): string {
  if (/^\.{0,2}$/.test(name)) throw new TypeError(`${JSON.stringify(name)} is not a name`);
  return encodeURIComponent(name);
}
