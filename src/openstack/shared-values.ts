import type { Clock } from '../time/clock.ts';

export interface SharedValuesOptions {
  readonly clock: Clock;
  /** What nobody has asked for longer than this goes. */
  readonly idleMs: number;
}

/** Values that are made once and kept while they are in use, however many that are. */
export class SharedValues<V> {
  readonly #options: SharedValuesOptions;
  /** In the order of their last use. */
  readonly #entries = new Map<string, { readonly value: V; readonly usedAt: number }>();

  constructor(options: SharedValuesOptions) {
    this.#options = options;
  }

  /** The value for `key`, made if missing. */
  get(key: string, make: () => V): V {
    const usedAt = this.#options.clock.monotonicMs();
    const value = this.#entries.get(key)?.value ?? make();
    this.#entries.delete(key);
    this.#entries.set(key, { value, usedAt });
    for (const [other, entry] of this.#entries) {
      if (usedAt - entry.usedAt <= this.#options.idleMs) break;
      this.#entries.delete(other);
    }
    return value;
  }

  /** Forgets the value for `key`, unless it is another one by now. */
  drop(key: string, value: V): void {
    if (this.#entries.get(key)?.value === value) this.#entries.delete(key);
  }
}
