/** One secondary index: which objects carry a value. */
export class StoreIndex<T> {
  readonly #valuesOf: (object: T) => readonly string[];
  readonly #entries = new Map<string, Map<string, T>>();

  constructor(valuesOf: (object: T) => readonly string[]) {
    this.#valuesOf = valuesOf;
  }

  valuesOf(object: T): readonly string[] {
    return this.#valuesOf(object);
  }

  get(value: string): readonly T[] {
    return [...(this.#entries.get(value)?.values() ?? [])];
  }

  add(values: readonly string[], key: string, object: T): void {
    for (const value of values) {
      const bucket = this.#entries.get(value);
      if (bucket) bucket.set(key, object);
      else this.#entries.set(value, new Map([[key, object]]));
    }
  }

  remove(values: readonly string[], key: string): void {
    for (const value of values) {
      const bucket = this.#entries.get(value);
      bucket?.delete(key);
      if (bucket?.size === 0) this.#entries.delete(value);
    }
  }
}
