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
  readonly #objects = new Map<string, T>();
  readonly #indexes: ReadonlyMap<string, StoreIndex<T>>;
  readonly #subscriptions = new Set<Subscription<T>>();

  constructor({ indexes = {} }: StoreOptions<T> = {}) {
    this.#indexes = new Map(
      Object.entries(indexes).map(([name, valuesOf]) => [name, new StoreIndex(valuesOf)]),
    );
  }

  get size(): number {
    return this.#objects.size;
  }

  get(key: string): T | undefined {
    return this.#objects.get(key);
  }

  list(): readonly T[] {
    return [...this.#objects.values()];
  }

  /** Objects whose index `name` holds `value`; throws when there is no such index. */
  byIndex(name: string, value: string): readonly T[] {
    const index = this.#indexes.get(name);
    if (!index) throw new Error(`store has no index ${name}`);
    return index.get(value);
  }

  /** Calls `listener` after every change; returns what ends the subscription. */
  subscribe(listener: Listener<T>, { replay = false }: SubscribeOptions = {}): () => void {
    const subscription = { listener, missed: new Map<string, Change<T>>() };
    this.#subscriptions.add(subscription);
    if (replay) {
      // What it throws on is told again, and then reported, by `redeliver`.
      for (const [key, object] of this.#objects) tell(subscription, { type: 'added', key, object });
    }
    return () => {
      this.#subscriptions.delete(subscription);
    };
  }

  /** Stores the object unless what is there is as new; throws an `AggregateError` when listeners threw. */
  upsert(object: T): void {
    const previous = this.#objects.get(keyOf(object));
    if (previous && !isNewer(object.metadata.resourceVersion, previous.metadata.resourceVersion)) {
      return;
    }
    throwAll(this.#set(object));
  }

  /** Removes the object unless a newer one has its name; throws an `AggregateError` when listeners threw. */
  remove(object: KubeObject): void {
    const stored = this.#objects.get(keyOf(object));
    if (!stored || isNewer(stored.metadata.resourceVersion, object.metadata.resourceVersion))
      return;
    throwAll(this.#delete(stored));
  }

  /** Makes the store equal to a fresh list; throws an `AggregateError` when listeners threw. */
  replace(objects: readonly T[]): void {
    const errors: unknown[] = [];
    const keys = new Set(objects.map((object) => keyOf(object)));
    for (const [key, object] of this.#objects) {
      if (!keys.has(key)) errors.push(...this.#delete(object));
    }
    for (const object of objects) {
      // Different, not newer: after etcd was restored from a backup the truth has smaller versions.
      const stored = this.#objects.get(keyOf(object))?.metadata.resourceVersion;
      if (stored === undefined || stored !== object.metadata.resourceVersion) {
        errors.push(...this.#set(object));
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
    // Before anything changes: an index function that throws leaves the store as it was.
    const values = [...this.#indexes.values()].map((index) => index.valuesOf(object));
    const previous = this.#objects.get(key);
    if (previous && previous.metadata.uid !== object.metadata.uid) {
      // Same name, another object: the old one is gone, even if nobody saw it go.
      return [...this.#delete(previous), ...this.#set(object)];
    }
    if (previous) this.#unindex(key, previous);
    this.#objects.set(key, object);
    [...this.#indexes.values()].forEach((index, i) => index.add(values[i] ?? [], key, object));
    return this.#tell(
      previous ? { type: 'updated', key, object, previous } : { type: 'added', key, object },
    );
  }

  #delete(object: T): readonly unknown[] {
    const key = keyOf(object);
    this.#unindex(key, object);
    this.#objects.delete(key);
    return this.#tell({ type: 'deleted', key, object });
  }

  #unindex(key: string, object: T): void {
    for (const index of this.#indexes.values()) index.remove(index.valuesOf(object), key);
  }

  #tell(change: Change<T>): readonly unknown[] {
    return [...this.#subscriptions].flatMap((subscription) => tell(subscription, change));
  }
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
