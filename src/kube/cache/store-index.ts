/** One secondary index: the keys of the objects that carry a value. */
export class StoreIndex<T> {
  readonly #valuesOf: (object: T) => readonly string[];
  readonly #keys = new Map<string, Set<string>>();

  constructor(valuesOf: (object: T) => readonly string[]) {
    this.#valuesOf = valuesOf;
  }

  valuesOf(object: T): readonly string[] {
    return this.#valuesOf(object);
  }

  get(value: string): readonly string[] {
    return [...(this.#keys.get(value) ?? [])];
  }

  /** How many keys carry the value. */
  count(value: string): number {
    return this.#keys.get(value)?.size ?? 0;
  }

  /** One of them. */
  first(value: string): string | undefined {
    return this.#keys.get(value)?.values().next().value;
  }

  add(values: readonly string[], key: string): void {
    for (const value of values) {
      const keys = this.#keys.get(value);
      if (keys) keys.add(key);
      else this.#keys.set(value, new Set([key]));
    }
  }

  remove(values: readonly string[], key: string): void {
    for (const value of values) {
      const keys = this.#keys.get(value);
      keys?.delete(key);
      if (keys?.size === 0) this.#keys.delete(value);
    }
  }
}
