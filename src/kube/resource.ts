import type { KubeObject, ObjectRef } from './object.ts';

/** One kind as the API server serves it, and the type its objects have in this program. */
export interface Resource<T extends KubeObject> {
  /** '' is the core group. */
  readonly group: string;
  readonly version: string;
  readonly plural: string;
  readonly kind: string;
  readonly namespaced: boolean;
  /** `apiVersion` of the objects where it is not that of the path: some subresources take kinds of another group. */
  readonly objectVersion?: string;
  /** Checks every object that is read; throws when it is not a `T`. */
  readonly parse?: (raw: unknown) => T;
}

/** Declares a resource; the result is frozen and holds no state. */
export function defineResource<T extends KubeObject>(resource: Resource<T>): Resource<T> {
  return Object.freeze({ ...resource });
}

/** `v1` or `group/version`, as `apiVersion` spells it. */
export function apiVersionOf(resource: Resource<KubeObject>): string {
  return resource.group === '' ? resource.version : `${resource.group}/${resource.version}`;
}

/** What `apiVersion` is in the objects themselves. */
export function objectVersionOf(resource: Resource<KubeObject>): string {
  return resource.objectVersion ?? apiVersionOf(resource);
}

/** Path of the collection, of all namespaces when none is given. */
export function collectionPath(resource: Resource<KubeObject>, namespace?: string): string {
  const root = resource.group === '' ? '/api' : '/apis';
  const scope =
    resource.namespaced && namespace !== undefined ? `/namespaces/${segment(namespace)}` : '';
  return `${root}/${apiVersionOf(resource)}${scope}/${resource.plural}`;
}

/** Path of one object; throws without a name, or without the namespace that a namespaced resource needs. */
export function objectPath(resource: Resource<KubeObject>, ref: ObjectRef): string {
  if (resource.namespaced && !ref.namespace) {
    throw new TypeError(
      `${resource.kind} ${ref.name} is namespaced: metadata.namespace is missing`,
    );
  }
  return `${collectionPath(resource, ref.namespace)}/${segment(ref.name)}`;
}

/** Encoding leaves dots alone, and a segment of dots leads to another resource. */
function segment(name: string): string {
  if (/^\.{0,2}$/.test(name)) throw new TypeError(`${JSON.stringify(name)} is not a name`);
  return encodeURIComponent(name);
}
