import type { Clock } from '../time/clock.ts';
import type { RefreshTurns } from './refresh-turns.ts';
import { SingleFlight } from './single-flight.ts';

interface Entry<V> {
  readonly value: V;
  /** Monotonic times: when it was asked for, and how long it is good. */
  readonly at: number;
  readonly until: number;
}

export interface TtlCacheOptions<V> {
  readonly clock: Clock;
  readonly ttlMs: number;
  /** Entries beyond this push the oldest out. */
  readonly capacity: number;
  /** Whether a value may be kept; absence may not, or a subnet made a moment ago would stay unknown. */
  readonly keeps: (value: V) => boolean;
  /** Whose turns a value waits for before it is read again, up to three times its age. */
  readonly turnsOf: (value: V) => RefreshTurns;
  /** Told of each question whether the answer was remembered. */
  readonly onLookup?: (isHit: boolean) => void;
}

/** Remembers answers for a while; concurrent askers for the same key share one request. */
export class TtlCache<V> {
  readonly #options: TtlCacheOptions<V>;
  readonly #entries = new Map<string, Entry<V>>();
  readonly #flights = new SingleFlight<V>();
  /** When each flight began, by its key. */
  readonly #begun = new Map<string, number>();
  /** What was asked for before it is out of date. */
  #staleBefore = Number.NEGATIVE_INFINITY;

  constructor(options: TtlCacheOptions<V>) {
    this.#options = options;
  }

  /** The remembered value, or what `load` gives; `load` must not depend on one asker's signal. */
  async get(key: string, signal: AbortSignal, load: () => Promise<V>): Promise<V> {
    const entry = this.#entries.get(key);
    const isHit = entry !== undefined && this.#isGood(entry);
    this.#options.onLookup?.(isHit);
    if (isHit) return entry.value;
    const flight = this.#isStale(this.#begun.get(key)) ? `${key} since ${this.#staleBefore}` : key;
    return this.#flights.run(flight, signal, async () => {
      const at = this.#options.clock.monotonicMs();
      this.#begun.set(flight, at);
      try {
        const value = await load();
        if (!this.#isStale(at)) this.#put(key, value, at);
        return value;
      } finally {
        this.#begun.delete(flight);
      }
    });
  }

  #isStale(at: number | undefined): boolean {
    return at !== undefined && at < this.#staleBefore;
  }

  #isGood({ value, until }: Entry<V>): boolean {
    const { clock, ttlMs, turnsOf } = this.#options;
    const overdueMs = clock.monotonicMs() - until;
    return overdueMs < 0 || (overdueMs < 2 * ttlMs && !turnsOf(value).take());
  }

  #put(key: string, value: V, at: number): void {
    this.#entries.delete(key);
    if (!this.#options.keeps(value)) return;
    const { clock, ttlMs, capacity } = this.#options;
    this.#entries.set(key, { value, at, until: clock.monotonicMs() + ttlMs });
    const oldest = this.#entries.keys().next();
    if (this.#entries.size > capacity && oldest.done !== true) this.#entries.delete(oldest.value);
  }

  /** Whether something is remembered, young or not. */
  has(key: string): boolean {
    return this.#entries.has(key);
  }

  /** Whether any value that is remembered, young or not, `matches`. */
  some(matches: (value: V) => boolean): boolean {
    return [...this.#entries.values()].some(({ value }) => matches(value));
  }

  /** Forgets what was asked for before `since` (monotonic ms), also what is not answered yet. */
  forgetBefore(since: number): void {
    this.#staleBefore = Math.max(this.#staleBefore, since);
    for (const [key, { at }] of this.#entries) if (at < since) this.#entries.delete(key);
  }

  /** Forgets every entry that `matches`. */
  forget(matches: (value: V) => boolean): void {
    for (const [key, entry] of this.#entries) if (matches(entry.value)) this.#entries.delete(key);
  }
}
