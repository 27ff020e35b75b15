import type { Clock } from '../time/clock.ts';

/** An answer and when its data were read. */
export interface Aged<T> {
  readonly value: T;
  readonly observedAt: Date;
}

interface Entry {
  readonly readAt: number;
  readonly answer: Promise<Aged<unknown>>;
}

/** Keeps answers for a short time, one read at a time per key; `forget` drops those whose key starts with a prefix. */
export class AnswerCache {
  readonly #entries = new Map<string, Entry>();
  readonly #clock: Clock;
  readonly #keepMs: number;

  constructor(clock: Clock, keepMs: number) {
    this.#clock = clock;
    this.#keepMs = keepMs;
  }

  /** The kept answer when it is young enough and `fresh` is not asked for, else a new one. */
  async get<T>(key: string, read: () => Promise<T>, fresh: boolean): Promise<Aged<T>> {
    this.#dropOld();
    const held = this.#entries.get(key);
    if (held && !fresh) return (await held.answer) as Aged<T>;
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
      if (now - readAt >= this.#keepMs) this.#entries.delete(key);
    }
  }
}
