/** Serialises work per key. */
export class Turns {
  readonly #last = new Map<string, Promise<unknown>>();

  /** Runs the work after all earlier work for this key. */
  async take<T>(key: string, work: () => Promise<T>): Promise<T> {
    const before = this.#last.get(key);
    const own = Promise.allSettled([before]).then(work);
    this.#last.set(key, own);
    try {
      return await own;
    } finally {
      if (this.#last.get(key) === own) this.#last.delete(key);
    }
  }
}
