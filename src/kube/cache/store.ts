import { type KubeObject, keyOf } from '../object.ts';
import { isNewer } from './resource-version.ts';
import { StoreIndex } from './store-index.ts';

export type Change<T> =
  | { readonly type: 'added'; readonly key: string; readonly object: T }
  | { readonly type: 'updated'; readonly key: string; readonly object: T; readonly previous: T }
  | { readonly type: 'deleted'; readonly key: string; readonly object: T };

export type Listener<T> = (change: Change<T>) => void;

/** The store interface for controllers. */
export interface StoreView<T> {
  subscribe(listener: Listener<T>, options?: SubscribeOptions): () => void;
}

export interface SubscribeOptions {
  /** Reports existing objects as added before `subscribe` returns. */
  readonly replay?: boolean;
}

export interface StoreOptions<T> {
  /** Pure functions: the values under which `byIndex` finds an object. */
  readonly indexes?: Readonly<Record<string, (object: T) => readonly string[]>>;
  /**
   * Stores objects as JSON and parses at an access, except for the latest `mostParsed`. For many, rarely read
   * objects: JSON takes a quarter of the memory.
   */
  readonly packed?: boolean;
}

/** A list being loaded into the store, page by page. */
export interface Listing<T> {
  /** Marks an object as listed and stores it, with the list's version; throws like `upsert`. */
  add(object: T, listVersion: string): void;
  /** Marks an object as listed without changing the store. */
  keep(key: string): void;
  /** Ends the list: removes unlisted objects; throws an `AggregateError` if listeners threw. */
  end(listVersion: string): void;
}

/** A stored object. */
interface Entry<T> {
  readonly uid: string | undefined;
  readonly version: string | undefined;
  readonly content: T | string;
}

/** A reconcile reads its object many times; controllers reconcile about ten objects at a time. */
const mostParsed = 32;

interface Subscription<T> {
  readonly listener: Listener<T>;
  /** The last failed change per key for this listener. */
  readonly missed: Map<string, Change<T>>;
}

/**
 * The last known collection state, by key and by index, filled by a reflector. Listeners are called synchronously. A
 * throwing listener blocks no other listener, and gets the change again by `redeliver`.
 */
export class Store<T extends KubeObject> implements StoreView<T> {
  readonly #entries = new Map<string, Entry<T>>();
  readonly #indexes: ReadonlyMap<string, StoreIndex<T>>;
  readonly #subscriptions = new Set<Subscription<T>>();
  readonly #packed: boolean;
  /** Latest parsed objects of a packed store, oldest first. */
  readonly #parsed = new Map<Entry<T>, T>();
  /** Versions stored since the current list began: the list may not contain them yet. */
  #storedSinceList = new Map<string, string | undefined>();

  constructor({ indexes = {}, packed = false }: StoreOptions<T> = {}) {
    this.#packed = packed;
    this.#indexes = new Map(
      Object.entries(indexes).map(([name, valuesOf]) => [name, new StoreIndex(valuesOf)]),
    );
  }

  get size(): number {
    return this.#entries.size;
  }

  get(key: string): T | undefined {
    const entry = this.#entries.get(key);
    return entry && this.#unpacked(entry);
  }

  /** Returns an object's resourceVersion without parsing; undefined: no such object, or no version. */
  versionOf(key: string): string | undefined {
    return this.#entries.get(key)?.version;
  }

  /** Returns all keys without parsing. */
  keys(): readonly string[] {
    return [...this.#entries.keys()];
  }

  list(): readonly T[] {
    return [...this.#entries.values()].map((entry) => unpacked(entry));
  }

  /** Returns objects with `value` in index `name`; throws for an unknown index. */
  byIndex(name: string, value: string): readonly T[] {
    return this.keysByIndex(name, value).flatMap((key) => this.get(key) ?? []);
  }

  /** Returns keys with `value` in index `name`, without parsing. */
  keysByIndex(name: string, value: string): readonly string[] {
    return this.#index(name).get(value);
  }

  /** Returns all values in index `name`, without parsing. */
  indexValues(name: string): readonly string[] {
    return this.#index(name).values();
  }

  /** Returns the number of keys with `value` in index `name`. */
  countByIndex(name: string, value: string): number {
    return this.#index(name).count(value);
  }

  /** Returns any key with `value` in index `name`. */
  keyByIndex(name: string, value: string): string | undefined {
    return this.#index(name).first(value);
  }

  #index(name: string): StoreIndex<T> {
    const index = this.#indexes.get(name);
    if (!index) throw new Error(`store has no index ${name}`);
    return index;
  }

  /** Returns true if exactly this object version is stored. */
  holds(object: KubeObject): boolean {
    return this.#holds(keyOf(object), object);
  }

  #holds(key: string, { metadata: { uid, resourceVersion } }: KubeObject): boolean {
    const entry = this.#entries.get(key);
    return resourceVersion !== undefined && entry?.version === resourceVersion && entry.uid === uid;
  }

  /** Calls `listener` after every change; returns the unsubscribe function. */
  subscribe(listener: Listener<T>, { replay = false }: SubscribeOptions = {}): () => void {
    const subscription = { listener, missed: new Map<string, Change<T>>() };
    this.#subscriptions.add(subscription);
    if (replay) {
      // Failed replays are repeated, and then reported, by `redeliver`.
      for (const [key, entry] of this.#entries) {
        notify(subscription, { type: 'added', key, object: unpacked(entry) });
      }
    }
    return () => {
      this.#subscriptions.delete(subscription);
    };
  }

  /**
   * Stores the object unless the stored version is at least as new; throws an `AggregateError` if listeners threw.
   */
  upsert(object: T): void {
    const key = keyOf(object);
    const { resourceVersion } = object.metadata;
    const previous = this.#entries.get(key);
    if (previous && !isNewer(resourceVersion, previous.version)) return;
    this.#storedSinceList.set(key, resourceVersion);
    throwAll(this.#set(key, object));
  }

  /** Removes the object unless the stored version is newer; throws an `AggregateError` if listeners threw. */
  remove(object: KubeObject): void {
    const key = keyOf(object);
    const stored = this.#entries.get(key);
    if (!stored || isNewer(stored.version, object.metadata.resourceVersion)) return;
    throwAll(this.#delete(key, stored));
  }

  /**
   * Starts replacing the store content by a fresh list; call before requesting the list. Objects stored meanwhile and
   * newer than the list stay. (All other objects are replaced, even by smaller versions: after an etcd restore those
   * are the truth.)
   */
  startList(): Listing<T> {
    const listed = new Set<string>();
    const meanwhile = new Map<string, string | undefined>();
    this.#storedSinceList = meanwhile;
    const outdated = (key: string, listVersion: string): boolean =>
      meanwhile.has(key) && isNewer(meanwhile.get(key), listVersion);
    return {
      keep: (key) => void listed.add(key),
      add: (object, listVersion) => {
        const key = keyOf(object);
        listed.add(key);
        if (outdated(key, listVersion) || this.#holds(key, object)) return;
        throwAll(this.#set(key, object));
      },
      end: (listVersion) => {
        const errors: unknown[] = [];
        for (const [key, entry] of this.#entries) {
          if (listed.has(key) || outdated(key, listVersion)) continue;
          errors.push(...this.#delete(key, entry));
        }
        throwAll(errors);
      },
    };
  }

  /** Makes the store equal to these objects; throws an `AggregateError` if listeners threw. */
  replace(objects: readonly T[]): void {
    const listing = this.startList();
    const none = '';
    const errors: unknown[] = [];
    for (const step of [
      ...objects.map((object) => () => listing.add(object, none)),
      () => listing.end(none),
    ]) {
      try {
        step();
      } catch (error) {
        errors.push(error);
      }
    }
    throwAll(errors);
  }

  /** Repeats missed changes; throws an `AggregateError` if listeners throw again. */
  redeliver(): void {
    const errors: unknown[] = [];
    for (const subscription of this.#subscriptions) {
      for (const change of subscription.missed.values()) {
        errors.push(...notify(subscription, change));
      }
    }
    throwAll(errors);
  }

  #set(key: string, object: T): readonly unknown[] {
    const { uid, resourceVersion: version } = object.metadata;
    // Computed first: a throwing index function leaves the store unchanged.
    const values = this.#valuesOf(object);
    const content = this.#packed ? JSON.stringify(object) : object;
    const before = this.#entries.get(key);
    // Same name, another uid: the old object was deleted, even if its event was missed.
    const isReplaced = before && before.uid !== uid;
    const deletionErrors = isReplaced ? this.#delete(key, before) : [];
    const previous = before && !isReplaced ? this.#unpacked(before) : undefined;
    if (previous) this.#unindex(key, previous);
    this.#entries.set(key, { uid, version, content });
    for (const [index, own] of values) index.add(own, key);
    const change: Change<T> = previous
      ? { type: 'updated', key, object, previous }
      : { type: 'added', key, object };
    return [...deletionErrors, ...this.#notify(change)];
  }

  #delete(key: string, entry: Entry<T>): readonly unknown[] {
    const object = unpacked(entry);
    this.#unindex(key, object);
    this.#entries.delete(key);
    return this.#notify({ type: 'deleted', key, object });
  }

  /** Computed again for each change: stored values would take a tenth of the store's memory. */
  #valuesOf(object: T): readonly (readonly [StoreIndex<T>, readonly string[]])[] {
    return [...this.#indexes.values()].map((index) => [index, index.valuesOf(object)]);
  }

  #unpacked(entry: Entry<T>): T {
    const known = this.#parsed.get(entry);
    if (known !== undefined) return known;
    const object = unpacked(entry);
    if (this.#packed) this.#remember(entry, object);
    return object;
  }

  #remember(entry: Entry<T>, object: T): void {
    this.#parsed.set(entry, object);
    const [oldest] = this.#parsed.keys();
    if (oldest && this.#parsed.size > mostParsed) this.#parsed.delete(oldest);
  }

  #unindex(key: string, object: T): void {
    for (const [index, values] of this.#valuesOf(object)) index.remove(values, key);
  }

  #notify(change: Change<T>): readonly unknown[] {
    return [...this.#subscriptions].flatMap((subscription) => notify(subscription, change));
  }
}

function unpacked<T>({ content }: Entry<T>): T {
  return typeof content === 'string' ? (JSON.parse(content) as T) : content;
}

function notify<T>({ listener, missed }: Subscription<T>, change: Change<T>): readonly unknown[] {
  try {
    listener(change);
    missed.delete(change.key);
    return [];
  } catch (error) {
    missed.set(change.key, change);
    return [error];
  }
}

function throwAll(errors: readonly unknown[]): void {
  if (errors.length > 0) throw new AggregateError(errors, 'notifying store listeners');
}
