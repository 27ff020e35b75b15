import { type KubeObject, keyOf } from '../object.ts';
import { isNewer } from './resource-version.ts';
import { StoreIndex } from './store-index.ts';

export type Change<T> =
  | { readonly type: 'added'; readonly key: string; readonly object: T }
  | { readonly type: 'updated'; readonly key: string; readonly object: T; readonly previous: T }
  | { readonly type: 'deleted'; readonly key: string; readonly object: T };

export type Listener<T> = (change: Change<T>) => void;

/** What a controller needs of a store. */
export interface StoreView<T> {
  subscribe(listener: Listener<T>, options?: SubscribeOptions): () => void;
}

export interface SubscribeOptions {
  /** Tells what is there already as added, before `subscribe` returns. */
  readonly replay?: boolean;
}

export interface StoreOptions<T> {
  /** Values by which `byIndex` finds an object. */
  readonly indexes?: Readonly<Record<string, (object: T) => readonly string[]>>;
  /**
   * Keeps each object as its JSON and parses it whenever it is asked for. For many objects of which few are looked at: as
   * text one takes a quarter of the memory. Every look gives another copy.
   */
  readonly packed?: boolean;
}

/** A fresh list on its way into the store, page by page. */
export interface Listing<T> {
  /** Takes an object of the list, whose version is `listVersion`; throws as `upsert` does. */
  add(object: T, listVersion: string): void;
  /** The list has this object, and what the store knows of it stays. */
  keep(key: string): void;
  /** The list is complete: removes what it did not have; throws an `AggregateError` when listeners threw. */
  end(listVersion: string): void;
}

/** One object as it is kept. */
interface Entry<T> {
  readonly uid: string | undefined;
  readonly version: string | undefined;
  /** What each index holds of it. */
  readonly values: readonly (readonly string[])[];
  readonly held: T | string;
}

interface Subscription<T> {
  readonly listener: Listener<T>;
  /** The last change of each key that the listener threw on. */
  readonly missed: Map<string, Change<T>>;
}

/**
 * The last known state of a collection, by key and by index, kept by a reflector. Changes are told synchronously; a
 * listener that throws keeps nobody else from being told, and is told again by `redeliver`.
 */
export class Store<T extends KubeObject> implements StoreView<T> {
  readonly #entries = new Map<string, Entry<T>>();
  readonly #indexes: ReadonlyMap<string, StoreIndex<T>>;
  readonly #subscriptions = new Set<Subscription<T>>();
  readonly #packed: boolean;
  /** Versions of what was stored since the list under way began: it may not know them yet. */
  #storedMeanwhile = new Map<string, string | undefined>();

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
    return entry && unpacked(entry);
  }

  /** The resourceVersion of an object, without reading it; undefined when it is not there, or has none. */
  versionOf(key: string): string | undefined {
    return this.#entries.get(key)?.version;
  }

  /** Keys of all objects, without a look at any of them. */
  keys(): readonly string[] {
    return [...this.#entries.keys()];
  }

  list(): readonly T[] {
    return [...this.#entries.values()].map(unpacked);
  }

  /** Objects whose index `name` holds `value`; throws when there is no such index. */
  byIndex(name: string, value: string): readonly T[] {
    return this.keysByIndex(name, value).flatMap((key) => this.get(key) ?? []);
  }

  /** Keys of those objects, without a look at any of them. */
  keysByIndex(name: string, value: string): readonly string[] {
    return this.#index(name).get(value);
  }

  /** How many they are. */
  countByIndex(name: string, value: string): number {
    return this.#index(name).count(value);
  }

  /** Key of one of them. */
  keyByIndex(name: string, value: string): string | undefined {
    return this.#index(name).first(value);
  }

  #index(name: string): StoreIndex<T> {
    const index = this.#indexes.get(name);
    if (!index) throw new Error(`store has no index ${name}`);
    return index;
  }

  /** Whether exactly this version of this object is stored. */
  holds(object: KubeObject): boolean {
    const entry = this.#entries.get(keyOf(object));
    const { uid, resourceVersion } = object.metadata;
    return resourceVersion !== undefined && entry?.version === resourceVersion && entry.uid === uid;
  }

  /** Calls `listener` after every change; returns what ends the subscription. */
  subscribe(listener: Listener<T>, { replay = false }: SubscribeOptions = {}): () => void {
    const subscription = { listener, missed: new Map<string, Change<T>>() };
    this.#subscriptions.add(subscription);
    if (replay) {
      // What it throws on is told again, and then reported, by `redeliver`.
      for (const [key, entry] of this.#entries) {
        tell(subscription, { type: 'added', key, object: unpacked(entry) });
      }
    }
    return () => {
      this.#subscriptions.delete(subscription);
    };
  }

  /** Stores the object unless what is there is as new; throws an `AggregateError` when listeners threw. */
  upsert(object: T): void {
    const key = keyOf(object);
    const { resourceVersion } = object.metadata;
    const previous = this.#entries.get(key);
    if (previous && !isNewer(resourceVersion, previous.version)) return;
    this.#storedMeanwhile.set(key, resourceVersion);
    throwAll(this.#set(object));
  }

  /** Removes the object unless a newer one has its name; throws an `AggregateError` when listeners threw. */
  remove(object: KubeObject): void {
    const key = keyOf(object);
    const stored = this.#entries.get(key);
    if (!stored || isNewer(stored.version, object.metadata.resourceVersion)) return;
    throwAll(this.#delete(key, stored));
  }

  /**
   * Begins to make the store equal to a fresh list; call it before the list is asked for. What is stored from then on
   * and is newer than the list stays. (Anything else gives way even to smaller versions: after etcd was restored from a
   * backup they are the truth.)
   */
  startList(): Listing<T> {
    const seen = new Set<string>();
    const meanwhile = new Map<string, string | undefined>();
    this.#storedMeanwhile = meanwhile;
    const outdated = (key: string, listVersion: string): boolean =>
      meanwhile.has(key) && isNewer(meanwhile.get(key), listVersion);
    return {
      keep: (key) => void seen.add(key),
      add: (object, listVersion) => {
        const key = keyOf(object);
        seen.add(key);
        if (outdated(key, listVersion) || this.holds(object)) return;
        throwAll(this.#set(object));
      },
      end: (listVersion) => {
        const errors: unknown[] = [];
        for (const [key, entry] of this.#entries) {
          if (seen.has(key) || outdated(key, listVersion)) continue;
          errors.push(...this.#delete(key, entry));
        }
        throwAll(errors);
      },
    };
  }

  /** Makes the store equal to these objects; throws an `AggregateError` when listeners threw. */
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

  /** Tells listeners again what they threw on; throws an `AggregateError` when they throw again. */
  redeliver(): void {
    const errors: unknown[] = [];
    for (const subscription of this.#subscriptions) {
      for (const change of subscription.missed.values()) {
        errors.push(...tell(subscription, change));
      }
    }
    throwAll(errors);
  }

  #set(object: T): readonly unknown[] {
    const key = keyOf(object);
    const { uid, resourceVersion: version } = object.metadata;
    // Before anything changes: an index function that throws leaves the store as it was.
    const values = [...this.#indexes.values()].map((index) => index.valuesOf(object));
    const held = this.#packed ? JSON.stringify(object) : object;
    const before = this.#entries.get(key);
    // Same name, another object: the old one is gone, even if nobody saw it go.
    const replaced = before && before.uid !== uid;
    const gone = replaced ? this.#delete(key, before) : [];
    const updated = replaced ? undefined : before;
    if (updated) this.#unindex(key, updated);
    this.#entries.set(key, { uid, version, values, held });
    [...this.#indexes.values()].forEach((index, i) => index.add(values[i] ?? [], key));
    const change: Change<T> = updated
      ? { type: 'updated', key, object, previous: unpacked(updated) }
      : { type: 'added', key, object };
    return [...gone, ...this.#tell(change)];
  }

  #delete(key: string, entry: Entry<T>): readonly unknown[] {
    this.#unindex(key, entry);
    this.#entries.delete(key);
    return this.#tell({ type: 'deleted', key, object: unpacked(entry) });
  }

  #unindex(key: string, { values }: Entry<T>): void {
    [...this.#indexes.values()].forEach((index, i) => index.remove(values[i] ?? [], key));
  }

  #tell(change: Change<T>): readonly unknown[] {
    return [...this.#subscriptions].flatMap((subscription) => tell(subscription, change));
  }
}

function unpacked<T>({ held }: Entry<T>): T {
  return typeof held === 'string' ? (JSON.parse(held) as T) : held;
}

function tell<T>({ listener, missed }: Subscription<T>, change: Change<T>): readonly unknown[] {
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
  if (errors.length > 0) throw new AggregateError(errors, 'telling listeners of a store');
}
