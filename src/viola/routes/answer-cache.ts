import type { Clock } from '../../time/clock.ts';

/** Answer with the time when its data were read. */
export interface Aged<T> {
  readonly value: T;
  readonly observedAt: Date;
}

interface Entry {
  readonly readAt: number;
  readonly answer: Promise<Aged<unknown>>;
}

/** Short-lived answer cache with one concurrent read per key; `forget` drops keys with a prefix. */
export class AnswerCache {
  readonly #entries = new Map<string, Entry>();
  readonly #clock: Clock;
  readonly #maxAgeMs: number;

  constructor(clock: Clock, maxAgeMs: number) {
    this.#clock = clock;
    this.#maxAgeMs = maxAgeMs;
  }

  /** Returns the cached answer if young enough and `fresh` is false, else reads again. */
  async get<T>(key: string, read: () => Promise<T>, fresh: boolean): Promise<Aged<T>> {
    this.#dropOld();
    const cached = this.#entries.get(key);
    if (cached && !fresh) return (await cached.answer) as Aged<T>;
    const observedAt = this.#clock.now();
    const answer = read().then((value) => ({ value, observedAt }));
    const entry = { readAt: this.#clock.monotonicMs(), answer };
    this.#entries.set(key, entry);
    answer.catch(() => {
      if (this.#entries.get(key) === entry) this.#entries.delete(key);
    });
    return answer;
  }

  forget(prefix: string): void {
    for (const key of this.#entries.keys()) if (key.startsWith(prefix)) this.#entries.delete(key);
  }

  #dropOld(): void {
    const now = this.#clock.monotonicMs();
    for (const [key, { readAt }] of this.#entries) {
      if (now - readAt >= this.#maxAgeMs) this.#entries.delete(key);
    }
  }
}
