import type { Clock } from '../time/clock.ts';
import type { RefreshTurns } from './refresh-turns.ts';
import { SingleFlight } from './single-flight.ts';

interface Entry<V> {
  readonly value: V;
  /** Monotonic milliseconds: request time and expiry. */
  readonly at: number;
  readonly until: number;
}

export interface TtlCacheOptions<V> {
  readonly clock: Clock;
  readonly ttlMs: number;
  /** Maximum number; the oldest entry is evicted. */
  readonly capacity: number;
  /** True if the value may be cached. Absence must not be cached, or a newly created subnet would stay unknown. */
  readonly keeps: (value: V) => boolean;
  /** Returns the refresh turns for a value; refresh waits until three times the TTL at most. */
  readonly turnsOf: (value: V) => RefreshTurns;
  /** Called on each lookup. */
  readonly onLookup?: (isHit: boolean) => void;
}

/** Cache with expiry; concurrent callers with the same key share one request. */
export class TtlCache<V> {
  readonly #options: TtlCacheOptions<V>;
  readonly #entries = new Map<string, Entry<V>>();
  readonly #flights = new SingleFlight<V>();
  /** Start time per flight, by key. */
  readonly #flightStarts = new Map<string, number>();
  /** Values requested earlier are stale (monotonic milliseconds). */
  #staleBefore = Number.NEGATIVE_INFINITY;

  constructor(options: TtlCacheOptions<V>) {
    this.#options = options;
  }

  /** Returns the cached value, else the result from `load`, which must not depend on any caller's signal. */
  async get(key: string, signal: AbortSignal, load: () => Promise<V>): Promise<V> {
    const entry = this.#entries.get(key);
    const isHit = entry !== undefined && this.#isGood(entry);
    this.#options.onLookup?.(isHit);
    if (isHit) return entry.value;
    const flight = this.#isStale(this.#flightStarts.get(key))
      ? `${key} since ${this.#staleBefore}`
      : key;
    return this.#flights.run(flight, signal, async () => {
      const at = this.#options.clock.monotonicMs();
      this.#flightStarts.set(flight, at);
      try {
        const value = await load();
        if (!this.#isStale(at)) this.#put(key, value, at);
        return value;
      } finally {
        this.#flightStarts.delete(flight);
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

  /** True if the key is cached, expired or not. */
  has(key: string): boolean {
    return this.#entries.has(key);
  }

  /** True if any cached value `matches`, expired or not. */
  some(matches: (value: V) => boolean): boolean {
    return [...this.#entries.values()].some(({ value }) => matches(value));
  }

  /** Drops values requested before `since` (monotonic milliseconds), including running loads. */
  forgetBefore(since: number): void {
    this.#staleBefore = Math.max(this.#staleBefore, since);
    for (const [key, { at }] of this.#entries) if (at < since) this.#entries.delete(key);
  }

  /** Drops every entry that `matches`. */
  forget(matches: (value: V) => boolean): void {
    for (const [key, entry] of this.#entries) if (matches(entry.value)) this.#entries.delete(key);
  }
}
