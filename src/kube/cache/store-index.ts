/** A secondary index: object keys by value. */
export class StoreIndex<T> {
  readonly #valuesOf: (object: T) => readonly string[];
  /**
   * A string for values with a single key (the usual case): a Set per value would take a sixth of the store's memory.
   */
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

  /** Returns all values. */
  values(): readonly string[] {
    return [...this.#keys.keys()];
  }

  /** Returns the number of keys with this value. */
  count(value: string): number {
    const keys = this.#keys.get(value);
    return typeof keys === 'string' ? 1 : (keys?.size ?? 0);
  }

  /** Returns any key with this value. */
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
