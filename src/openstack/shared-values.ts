import type { Clock } from '../time/clock.ts';

export interface SharedValuesOptions {
  readonly clock: Clock;
  /** Values unused for longer are dropped (milliseconds). */
  readonly idleMs: number;
}

/** Cache that creates each value once and keeps all values in use, without a size limit. */
export class SharedValues<V> {
  readonly #options: SharedValuesOptions;
  /** Ordered by last use. */
  readonly #entries = new Map<string, { readonly value: V; readonly usedAt: number }>();

  constructor(options: SharedValuesOptions) {
    this.#options = options;
  }

  /** Returns the value for `key` and creates a missing value. */
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

  /** Drops the value for `key`, unless replaced meanwhile. */
  drop(key: string, value: V): void {
    if (this.#entries.get(key)?.value === value) this.#entries.delete(key);
  }
}
