import { type KubeObject, keyOf, withMeta } from '../objects/object.ts';

/** One step of the history: what an object became, and what it was. */
export interface Change {
  readonly type: 'ADDED' | 'MODIFIED' | 'DELETED';
  /** The kind's storage key, "jobs.batch". */
  readonly resource: string;
  readonly key: string;
  readonly revision: number;
  /** The new state; of a deleted object the last one, at the revision of its deletion. */
  readonly object: KubeObject;
  readonly previous: KubeObject | undefined;
}

export type Listener = (change: Change) => void;

/**
 * Objects by kind and key under one revision counter, as etcd keeps them, with a bounded history for watches and
 * consistent pages. Everything is synchronous: what a request reads and writes is one transaction.
 */
export class Storage {
  readonly #objects = new Map<string, Map<string, KubeObject>>();
  readonly #listeners = new Set<Listener>();
  readonly #kept: number;
  #history: Change[] = [];
  #revision = 1;
  #forgotten = 1;

  constructor(kept: number) {
    this.#kept = kept;
  }

  /** The revision of the last write. */
  get revision(): number {
    return this.#revision;
  }

  get(resource: string, key: string): KubeObject | undefined {
    return this.#objects.get(resource)?.get(key);
  }

  /** All objects of a kind, or those of one namespace, sorted by key. */
  list(resource: string, namespace?: string): readonly KubeObject[] {
    return inOrder(this.#objects.get(resource) ?? new Map(), namespace);
  }

  /** All objects of a kind in no order, without the cost of one. */
  each(resource: string): readonly KubeObject[] {
    return [...(this.#objects.get(resource)?.values() ?? [])];
  }

  /** Creates or replaces; gives the object its new resource version. */
  put(resource: string, object: KubeObject): KubeObject {
    const key = keyOf(object);
    const previous = this.get(resource, key);
    const stored = this.#stamp(object);
    const objects = this.#objects.get(resource) ?? new Map<string, KubeObject>();
    this.#objects.set(resource, objects.set(key, stored));
    const type = previous ? 'MODIFIED' : 'ADDED';
    this.#record({ type, resource, key, revision: this.#revision, object: stored, previous });
    return stored;
  }

  remove(resource: string, key: string): void {
    const previous = this.get(resource, key);
    if (!previous) return;
    this.#objects.get(resource)?.delete(key);
    const object = this.#stamp(previous);
    const revision = this.#revision;
    this.#record({ type: 'DELETED', resource, key, revision, object, previous });
  }

  /** Calls the listener after every change until the returned function is called. */
  subscribe(listener: Listener): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** The changes after a revision, or undefined when they are no longer known. */
  since(revision: number): readonly Change[] | undefined {
    if (revision < this.#forgotten) return undefined;
    // Revisions only rise, and watches ask for the newest changes.
    const last = this.#history.findLastIndex((change) => change.revision <= revision);
    return this.#history.slice(last + 1);
  }

  /** The objects of a kind as they were at a revision, or undefined when that is no longer known. */
  listAt(
    resource: string,
    revision: number,
    namespace?: string,
  ): readonly KubeObject[] | undefined {
    const changes = this.since(revision);
    if (!changes) return undefined;
    const objects = new Map(this.#objects.get(resource));
    for (const change of changes.toReversed()) {
      if (change.resource !== resource) continue;
      if (change.previous) objects.set(change.key, change.previous);
      else objects.delete(change.key);
    }
    return inOrder(objects, namespace);
  }

  /** Forgets the history up to now: older revisions can no longer be watched or paged through. */
  compact(): void {
    this.#history = [];
    this.#forgotten = this.#revision;
  }

  #stamp(object: KubeObject): KubeObject {
    this.#revision += 1;
    return withMeta(object, { resourceVersion: String(this.#revision) });
  }

  #record(change: Change): void {
    this.#history.push(change);
    if (this.#history.length > this.#kept * 2) {
      this.#history = this.#history.slice(-this.#kept);
      this.#forgotten = (this.#history[0]?.revision ?? this.#revision + 1) - 1;
    }
    for (const listener of this.#listeners) listener(change);
  }
}

function inOrder(
  objects: ReadonlyMap<string, KubeObject>,
  namespace: string | undefined,
): readonly KubeObject[] {
  const entries = [...objects].filter(([, object]) =>
    namespace === undefined ? true : object.metadata.namespace === namespace,
  );
  return entries.toSorted(([a], [b]) => (a < b ? -1 : 1)).map(([, object]) => object);
}
