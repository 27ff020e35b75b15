import { HttpProblem } from './problem.ts';

/** In-flight requests, counted per key: a full key does not affect other keys. */
export class Slots {
  readonly #limit: number;
  readonly #counts = new Map<string, number>();

  constructor(limit: number) {
    this.#limit = limit;
  }

  /** Occupies a slot and returns its release function; throws 429 when the key is full. */
  take(key: string): () => void {
    const count = this.#counts.get(key) ?? 0;
    if (count >= this.#limit) {
      const detail = `${this.#limit} requests of this caller for this provider are already in progress; retry later`;
      throw new HttpProblem(429, 'TooManyRequests', detail, { retryAfterSeconds: 1 });
    }
    this.#counts.set(key, count + 1);
    return () => this.#release(key);
  }

  #release(key: string): void {
    const count = (this.#counts.get(key) ?? 0) - 1;
    if (count > 0) this.#counts.set(key, count);
    else this.#counts.delete(key);
  }
}
