/** One secondary index: the keys of the objects that carry a value. */
export class StoreIndex<T> {
  readonly #valuesOf: (object: T) => readonly string[];
  /** Most values are those of one object; a set for each would be a sixth of the memory of a store. */
  readonly #keys = new Map<string, string | Set<string>>();

  constructor(valuesOf: (object: T) => readonly string[]) {
    this.#valuesOf = valuesOf;
  }

  valuesOf(object: T): readonly string[] {
    return this.#valuesOf(object);
  }

  get(value: string): readonly string[] {
    const keys = this.#keys.get(value);
    return typeof keys === 'string' ? [keys] : [...(keys ?? [])];
  }

  /** How many keys carry the value. */
  count(value: string): number {
    const keys = this.#keys.get(value);
    return typeof keys === 'string' ? 1 : (keys?.size ?? 0);
  }

  /** One of them. */
  first(value: string): string | undefined {
    const keys = this.#keys.get(value);
    return typeof keys === 'string' ? keys : keys?.values().next().value;
  }

  add(values: readonly string[], key: string): void {
    for (const value of values) {
      const keys = this.#keys.get(value);
      if (keys === undefined || keys === key) this.#keys.set(value, key);
      else if (typeof keys === 'string') this.#keys.set(value, new Set([keys, key]));
      else keys.add(key);
    }
  }

  remove(values: readonly string[], key: string): void {
    for (const value of values) {
      const keys = this.#keys.get(value);
      if (typeof keys === 'object') keys.delete(key);
      if (keys === key || (typeof keys === 'object' && keys.size === 0)) this.#keys.delete(value);
    }
  }
}
