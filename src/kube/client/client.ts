import type { Draft, KubeObject, ObjectRef } from '../object.ts';
import type { Resource } from '../resource.ts';
import type { Action } from '../rights.ts';

export interface CallOptions {
  readonly signal?: AbortSignal | undefined;
}

export interface Selection {
  readonly namespace?: string | undefined;
  readonly labelSelector?: string | undefined;
  readonly fieldSelector?: string | undefined;
}

export interface ListOptions extends Selection, CallOptions {
  readonly limit?: number;
  readonly continue?: string | undefined;
  readonly resourceVersion?: string;
}

export interface WatchOptions extends Selection, CallOptions {
  readonly resourceVersion: string;
  /** After this time the server ends the watch in good order. */
  readonly timeoutSeconds?: number;
  /** After this time without a byte the connection is given up (default: none). */
  readonly idleMs?: number;
}

export interface WriteOptions extends CallOptions {
  readonly fieldManager?: string;
  readonly dryRun?: boolean;
}

export interface ApplyOptions extends CallOptions {
  readonly fieldManager: string;
  /** Takes fields over from other managers instead of failing with a conflict. */
  readonly force?: boolean;
  readonly dryRun?: boolean;
  /** After this time the server gives the write up, whoever still waits for it (default and most: 34 s). */
  readonly timeoutSeconds?: number;
}

export interface DeleteOptions extends CallOptions {
  readonly uid?: string;
  readonly resourceVersion?: string;
  readonly propagationPolicy?: 'Background' | 'Foreground' | 'Orphan';
  readonly gracePeriodSeconds?: number;
}

export interface Listed<T> {
  readonly items: readonly T[];
  readonly resourceVersion: string;
}

export interface ListPage<T> extends Listed<T> {
  readonly continue?: string;
}

export type WatchEvent<T> =
  | { readonly type: 'ADDED' | 'MODIFIED' | 'DELETED'; readonly object: T }
  | { readonly type: 'BOOKMARK'; readonly resourceVersion: string };

/** Typed access to one API server. Every call rejects with a `KubeError`, or with the signal's reason. */
export interface KubeClient extends AsyncDisposable {
  /** One object; 404 is an error (`isNotFound`), see `find`. */
  get<T extends KubeObject>(r: Resource<T>, ref: ObjectRef, o?: CallOptions): Promise<T>;
  /** One object, or undefined when the API server itself says that there is none. */
  find<T extends KubeObject>(
    r: Resource<T>,
    ref: ObjectRef,
    o?: CallOptions,
  ): Promise<T | undefined>;
  /** One page. */
  list<T extends KubeObject>(r: Resource<T>, o?: ListOptions): Promise<ListPage<T>>;
  /** Everything, in pages of 500; starts again once when the continue token has expired. */
  listAll<T extends KubeObject>(
    r: Resource<T>,
    o?: Omit<ListOptions, 'limit' | 'continue'>,
  ): Promise<Listed<T>>;
  create<T extends KubeObject>(
    r: Resource<T>,
    object: Draft<NoInfer<T>>,
    o?: WriteOptions,
  ): Promise<T>;
  /** Server-side apply: creates, or changes the fields named in `object`. */
  apply<T extends KubeObject>(
    r: Resource<T>,
    object: Draft<NoInfer<T>>,
    o: ApplyOptions,
  ): Promise<T>;
  /** Server-side apply to the status subresource. */
  applyStatus<T extends KubeObject>(
    r: Resource<T>,
    object: Draft<NoInfer<T>>,
    o: ApplyOptions,
  ): Promise<T>;
  /** JSON merge patch; with `metadata.resourceVersion` in it a concurrent change is a conflict. */
  patch<T extends KubeObject>(
    r: Resource<T>,
    ref: ObjectRef,
    mergePatch: unknown,
    o?: WriteOptions,
  ): Promise<T>;
  /** JSON merge patch of the status subresource. */
  patchStatus<T extends KubeObject>(
    r: Resource<T>,
    ref: ObjectRef,
    mergePatch: unknown,
    o?: WriteOptions,
  ): Promise<T>;
  /** Asks for deletion; with finalizers the object stays until they are gone. 404 is an error. */
  delete<T extends KubeObject>(r: Resource<T>, ref: ObjectRef, o?: DeleteOptions): Promise<void>;
  /** Changes after `resourceVersion`; ends when the server ends it, throws when the connection breaks or on 410. */
  watch<T extends KubeObject>(r: Resource<T>, o: WatchOptions): AsyncIterable<WatchEvent<T>>;
  /** Whether this identity may do something, as the API server says; objects and kinds need not exist. */
  mayI(action: Action, o?: CallOptions): Promise<'yes' | 'no' | 'undecided'>;
  /** The server's version, for example `v1.37.1`. */
  version(o?: CallOptions): Promise<{ readonly gitVersion: string }>;
}
