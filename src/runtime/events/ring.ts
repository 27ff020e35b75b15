/** Changes in a ring; older changes are forgotten. */
export const ringSize = 10_000;

/** The last changes, numbered from 1. Each process and leadership term has a new ring id. */
export class Ring<Entry> {
  readonly id: string;
  readonly #size: number;
  readonly #entries: Entry[] = [];
  #last = 0;

  constructor(id: string, size = ringSize) {
    this.id = id;
    this.#size = size;
  }

  /** Number in the newest event id; 0: no change yet. */
  get last(): number {
    return this.#last;
  }

  add(entry: Entry): void {
    this.#entries[this.#last % this.#size] = entry;
    this.#last += 1;
  }

  /** Returns a change; undefined: forgotten, or not yet made. */
  at(number: number): Entry | undefined {
    return this.#isStored(number) ? this.#entries[(number - 1) % this.#size] : undefined;
  }

  /** Event id for a change. */
  idOf(number: number): string {
    return `${this.id}-${number}`;
  }

  /** Returns the number in an event id; undefined: a different ring's id, or later changes are forgotten. */
  numberIn(eventId: string): number | undefined {
    const number = Number(/^-(\d{1,15})$/.exec(eventId.slice(this.id.length))?.[1] ?? Number.NaN);
    return eventId.startsWith(this.id) && this.canResumeAfter(number) ? number : undefined;
  }

  /** Returns whether every later change is stored. */
  canResumeAfter(number: number): boolean {
    return number === this.#last || this.#isStored(number + 1);
  }

  #isStored(number: number): boolean {
    return number > Math.max(0, this.#last - this.#size) && number <= this.#last;
  }
}
