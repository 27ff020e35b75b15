interface Delay {
  readonly key: string;
  readonly due: number;
}

/** Keys by due time: a binary heap with each key once, at its earliest time. */
export class Delays {
  readonly #heap: Delay[] = [];
  readonly #due = new Map<string, number>();

  get size(): number {
    return this.#due.size;
  }

  has(key: string): boolean {
    return this.#due.has(key);
  }

  /** The next key's due time. */
  get next(): number | undefined {
    this.#dropStale();
    return this.#heap[0]?.due;
  }

  add(key: string, due: number): void {
    const known = this.#due.get(key);
    if (known !== undefined && known <= due) return;
    this.#due.set(key, due);
    this.#heap.push({ key, due });
    this.#up(this.#heap.length - 1);
  }

  /** Removes and returns the next key if due at `now`. */
  takeDue(now: number): string | undefined {
    this.#dropStale();
    const first = this.#heap[0];
    if (!first || first.due > now) return undefined;
    this.#pop();
    this.#due.delete(first.key);
    return first.key;
  }

  /** Re-adding a key with an earlier time leaves a stale heap entry. */
  #dropStale(): void {
    for (let top = this.#heap[0]; top && this.#due.get(top.key) !== top.due; top = this.#heap[0]) {
      this.#pop();
    }
  }

  #pop(): void {
    const last = this.#heap.pop();
    if (!last || this.#heap.length === 0) return;
    this.#heap[0] = last;
    this.#down(0);
  }

  #up(index: number): void {
    const parent = (index - 1) >> 1;
    if (index > 0 && this.#swapIfLater(parent, index)) this.#up(parent);
  }

  #down(index: number): void {
    const [left, right] = [2 * index + 1, 2 * index + 2];
    const smaller = this.#dueAt(right) < this.#dueAt(left) ? right : left;
    if (this.#swapIfLater(index, smaller)) this.#down(smaller);
  }

  #dueAt(index: number): number {
    return this.#heap[index]?.due ?? Number.POSITIVE_INFINITY;
  }

  #swapIfLater(parent: number, child: number): boolean {
    const [above, below] = [this.#heap[parent], this.#heap[child]];
    if (!above || !below || above.due <= below.due) return false;
    this.#heap[parent] = below;
    this.#heap[child] = above;
    return true;
  }
}
