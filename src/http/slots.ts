import { HttpProblem } from './problem.ts';

/** Requests in work, counted per key: who fills the slots of one key takes none from another. */
export class Slots {
  readonly #limit: number;
  readonly #held = new Map<string, number>();

  constructor(limit: number) {
    this.#limit = limit;
  }

  /** Takes a slot and answers how to give it back; throws 429 when all of this key are taken. */
  take(key: string): () => void {
    const held = this.#held.get(key) ?? 0;
    if (held >= this.#limit) {
      const detail = `${this.#limit} requests of this caller for this provider are in work already`;
      throw new HttpProblem(429, 'TooManyRequests', detail, { retryAfterSeconds: 1 });
    }
    this.#held.set(key, held + 1);
    return () => this.#giveBack(key);
  }

  #giveBack(key: string): void {
    const held = (this.#held.get(key) ?? 0) - 1;
    if (held > 0) this.#held.set(key, held);
    else this.#held.delete(key);
  }
}
