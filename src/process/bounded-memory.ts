interface Entry<V> {
  readonly value: V;
  readonly size: number;
  /** The memory's use count at this entry's last use. */
  readonly usedAt: number;
}

/** An entry is idle after 20 × (entries + 1) memory uses without its own use. */
const idleUses = 20;

/**
 * Values with a common size limit. While the memory is full with values in use, new values are rejected. Otherwise a
 * cycle over more values than fit would evict each value just before its next use.
 */
export class BoundedMemory<V> {
  readonly #limit: number;
  readonly #onDrop: (value: V) => void;
  /** Sorted by last use. */
  readonly #entries = new Map<string, Entry<V>>();
  #size = 0;
  #uses = 0;

  /** `limit`: maximum sum over all sizes. `onDrop` is called for each evicted or replaced value. */
  constructor(limit: number, onDrop: (value: V) => void = () => undefined) {
    this.#limit = limit;
    this.#onDrop = onDrop;
  }

  /** Returns the value without counting a use. */
  peek(key: string): V | undefined {
    return this.#entries.get(key)?.value;
  }

  set(key: string, value: V, size: number): void {
    this.#uses += 1;
    this.drop(key);
    this.#dropIdle(() => this.#size + size > this.#limit);
    if (this.#size + size > this.#limit) return;
    this.#entries.set(key, { value, size, usedAt: this.#uses });
    this.#size += size;
  }

  /** Counts a use. */
  touch(key: string): void {
    const entry = this.#entries.get(key);
    if (entry) this.set(key, entry.value, entry.size);
  }

  drop(key: string): void {
    const entry = this.#entries.get(key);
    if (!entry) return;
    this.#size -= entry.size;
    this.#entries.delete(key);
    this.#onDrop(entry.value);
  }

  /** Evicts all idle values, even when space is left. */
  dropIdle(): void {
    this.#dropIdle(() => true);
  }

  #dropIdle(isNeeded: () => boolean): void {
    const longest = idleUses * (this.#entries.size + 1);
    for (const [key, { usedAt }] of this.#entries) {
      if (!isNeeded() || this.#uses - usedAt <= longest) return;
      this.drop(key);
    }
  }
}
