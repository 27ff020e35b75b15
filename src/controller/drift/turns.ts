/** One piece of work at a time for each key. */
export class Turns {
  readonly #last = new Map<string, Promise<unknown>>();

  /** Does the work when all that was asked for before it, for this key, has ended. */
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
