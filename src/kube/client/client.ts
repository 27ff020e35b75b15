import type { Draft, KubeObject, ObjectRef } from '../object.ts';
import type { Resource } from '../resource.ts';
import type { Action } from '../rights.ts';

export interface CallOptions {
  readonly signal?: AbortSignal | undefined;
}

interface Selection {
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
  /** Seconds until the server ends the watch regularly. */
  readonly timeoutSeconds?: number;
  /** Maximum time without a byte (ms); then the connection is closed (default: no limit). */
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
  /** Server-side write timeout in seconds, even without a waiting client (default and maximum: 34 s). */
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
  /** Returns an object; 404 is an error (`isNotFound`), see `find`. */
  get<T extends KubeObject>(r: Resource<T>, ref: ObjectRef, o?: CallOptions): Promise<T>;
  /** Returns an object, or undefined if the API server itself reports NotFound. */
  find<T extends KubeObject>(
    r: Resource<T>,
    ref: ObjectRef,
    o?: CallOptions,
  ): Promise<T | undefined>;
  /** Returns one page. */
  list<T extends KubeObject>(r: Resource<T>, o?: ListOptions): Promise<ListPage<T>>;
  /** Returns the whole list, read in pages of 500; restarts once when the continue token expires. */
  listAll<T extends KubeObject>(
    r: Resource<T>,
    o?: Omit<ListOptions, 'limit' | 'continue'>,
  ): Promise<Listed<T>>;
  create<T extends KubeObject>(
    r: Resource<T>,
    object: Draft<NoInfer<T>>,
    o?: WriteOptions,
  ): Promise<T>;
  /** Server-side apply: creates the object, or changes the fields in `object`. */
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
  /** JSON merge patch; with `metadata.resourceVersion`, a concurrent change is a conflict. */
  patch<T extends KubeObject>(
    r: Resource<T>,
    ref: ObjectRef,
    mergePatch: unknown,
    o?: WriteOptions,
  ): Promise<T>;
  /** JSON merge patch for the status subresource. */
  patchStatus<T extends KubeObject>(
    r: Resource<T>,
    ref: ObjectRef,
    mergePatch: unknown,
    o?: WriteOptions,
  ): Promise<T>;
  /** Requests deletion; with finalizers the object stays until they are removed. 404 is an error. */
  delete<T extends KubeObject>(r: Resource<T>, ref: ObjectRef, o?: DeleteOptions): Promise<void>;
  /**
   * Streams changes after `resourceVersion`; ends when the server ends the watch, throws on a broken connection or
   * 410.
   */
  watch<T extends KubeObject>(r: Resource<T>, o: WatchOptions): AsyncIterable<WatchEvent<T>>;
  /** Asks the API server whether this identity may perform an action; objects and kinds need not exist. */
  mayI(action: Action, o?: CallOptions): Promise<'yes' | 'no' | 'undecided'>;
  /** The server's version, for example `v1.37.1`. */
  version(o?: CallOptions): Promise<{ readonly gitVersion: string }>;
}
