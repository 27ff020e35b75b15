import type { Json } from '../objects/json.ts';
import { type KubeObject, withMeta } from '../objects/object.ts';
import { type Cause, qualified, type Subject } from '../objects/status-error.ts';
import type { Schema } from '../schema/schema.ts';

/** A column that `kubectl get` shows, beside the name. */
export interface Column {
  readonly name: string;
  readonly type: string;
  readonly description?: string | undefined;
  /** 0: always shown; above: only with `-o wide`. */
  readonly priority?: number | undefined;
  readonly jsonPath: string;
}

/** What the server knows about a kind, at the version of one request. */
export interface ResourceType extends Subject {
  readonly version: string;
  /** The version that `apiVersion` of stored objects names; all versions share their fields (conversion None). */
  readonly storageVersion: string;
  readonly singular: string;
  readonly shortNames: readonly string[];
  readonly categories: readonly string[];
  readonly namespaced: boolean;
  /** The whole object: apiVersion, kind, metadata and what the kind adds. */
  readonly schema: Schema;
  /** True for a kind of a CustomResourceDefinition: validated, pruned, without strategic exceptions. */
  readonly custom: boolean;
  readonly hasStatus: boolean;
  readonly hasGeneration: boolean;
  /** Field selectors beside metadata.name and metadata.namespace. */
  readonly fieldLabels: readonly string[];
  /** Empty: the age alone. */
  readonly columns: readonly Column[];
  /** True when PUT may leave out the resource version. */
  readonly unconditionalUpdate: boolean;
  readonly strategy: Strategy;
}

/** What one kind does beyond the common rules. */
export interface Strategy {
  /** Turns what is only written into what is stored; throws what the real server cannot decode. */
  decode?(object: KubeObject): KubeObject;
  /** Fills in what the real server adds to a new object, owned by nobody; `uid` is the object's. */
  prepareCreate?(object: KubeObject, uid: string): KubeObject;
  /** The same for a changed one. */
  prepareUpdate?(object: KubeObject, live: KubeObject): KubeObject;
  validate?(object: KubeObject, live: KubeObject | undefined): readonly Cause[];
  /** True when a status given at creation is stored, as a kubelet needs it for its Node. */
  readonly keepsStatus?: boolean;
  /** Put on the object when it is deleted, so that a controller can clean up first. */
  readonly deletionFinalizers?: readonly string[];
  /** What becomes of dependents when the caller does not say; Background for nearly all kinds. */
  readonly defaultPropagation?: 'Orphan';
  /** Seconds between the mark and the removal when nothing else is asked for. */
  gracePeriodSeconds?(object: KubeObject): number;
}

/** "v1" of the core group, else "batch/v1". */
export function apiVersionOf(type: { readonly group: string; readonly version: string }): string {
  return type.group ? `${type.group}/${type.version}` : type.version;
}

/** The key under which objects of this kind are stored: "jobs.batch", whatever the version. */
export function resourceOf(type: Subject): string {
  return qualified(type);
}

/** The object as the version of the request names it. */
export function atVersion(object: KubeObject, type: ResourceType): KubeObject {
  const apiVersion = apiVersionOf(type);
  return object.apiVersion === apiVersion ? object : { ...object, apiVersion };
}

/** The object as it is stored. */
export function atStorageVersion(object: KubeObject, type: ResourceType): KubeObject {
  const apiVersion = apiVersionOf({ group: type.group, version: type.storageVersion });
  return { ...object, apiVersion };
}

/** True when two states differ in more than metadata and status. */
export function specDiffers(
  a: KubeObject,
  b: KubeObject,
  type: ResourceType,
  same: (a: Json, b: Json) => boolean,
): boolean {
  const spec = (object: KubeObject): Json => {
    const { metadata: _metadata, status, apiVersion: _apiVersion, ...rest } = object;
    return type.hasStatus || status === undefined ? rest : { ...rest, status };
  };
  return !same(spec(a), spec(b));
}

/** Adds finalizers that are not there yet. */
export function withFinalizers(object: KubeObject, more: readonly string[]): KubeObject {
  const finalizers = [...new Set([...(object.metadata.finalizers ?? []), ...more])];
  return finalizers.length > 0 ? withMeta(object, { finalizers }) : object;
}
