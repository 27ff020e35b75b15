interface Entry<V> {
  readonly value: V;
  readonly size: number;
  /** The count of uses of the memory at the last use of this entry. */
  readonly usedAt: number;
}

/** An entry goes for a new one when the memory was used so many times per entry since. */
const idleUses = 20;

/**
 * Values with a common limit of their sizes. A new value is left out while the memory is full of values in use: a cycle over
 * more values than fit would otherwise evict each value just before its next use.
 */
export class BoundedMemory<V> {
  readonly #most: number;
  readonly #onDrop: (value: V) => void;
  /** In the order of their last use. */
  readonly #entries = new Map<string, Entry<V>>();
  #size = 0;
  #uses = 0;

  /** `most`: the limit, in the unit of the sizes. `onDrop` hears of each value that is kept no longer. */
  constructor(most: number, onDrop: (value: V) => void = () => undefined) {
    this.#most = most;
    this.#onDrop = onDrop;
  }

  /** The value, without noting that it was used. */
  peek(key: string): V | undefined {
    return this.#entries.get(key)?.value;
  }

  set(key: string, value: V, size: number): void {
    this.#uses += 1;
    this.drop(key);
    this.#dropIdle(() => this.#size + size > this.#most);
    if (this.#size + size > this.#most) return;
    this.#entries.set(key, { value, size, usedAt: this.#uses });
    this.#size += size;
  }

  /** Notes that the value was used. */
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

  /** Drops what is not used any more, also while there is room. */
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
