import { backoffMs } from '../../time/backoff.ts';
import { type Clock, passed, type Random } from '../../time/clock.ts';
import { Delays } from './delays.ts';
import { type LaneLimit, Lanes } from './lanes.ts';

/** First retry after 1 s, the longest wait 5 min: a broken object costs 12 tries an hour. */
const retryBackoff = { baseMs: 1_000, maxMs: 300_000 };

export interface WorkQueueOptions {
  readonly clock: Clock;
  readonly random: Random;
  /** How many different keys may wait; an `add` beyond that throws (default 100,000). */
  readonly maxKeys?: number;
  /** Keys that share a lane wait for the same thing, such as one server; only so many of them are taken at once. */
  readonly lanes?: LaneLimit | undefined;
  readonly observer?: QueueObserver | undefined;
}

/** Told what happens to keys; for metrics. */
export interface QueueObserver {
  /** A key was made ready, by a change or because its time had come. */
  added(): void;
  /** A key is to come again after a failure. */
  retried(): void;
  /** A worker took a key that had been ready for so long. */
  taken(waitedMs: number): void;
}

/** What a queue holds at one moment. */
export interface QueueLoad {
  /** Keys that are ready and that no worker has taken. */
  readonly depth: number;
  /** Keys that workers have taken. */
  readonly active: number;
  /** How long all of those have been worked on, together. */
  readonly unfinishedMs: number;
  /** And the one that was taken first. */
  readonly longestMs: number;
}

/** Keys to work on: each waits once, never two workers on one key, failed ones come later and later. */
export class WorkQueue {
  readonly #clock: Clock;
  readonly #random: Random;
  readonly #maxKeys: number;
  /** Keys and since when they are ready. */
  readonly #ready = new Map<string, number>();
  /** Keys and since when they are worked on. */
  readonly #taken = new Map<string, number>();
  readonly #observer: QueueObserver | undefined;
  /** Added while taken: ready again as soon as the worker is done. */
  readonly #again = new Set<string>();
  readonly #failures = new Map<string, number>();
  readonly #delays = new Delays();
  readonly #lanes: Lanes;
  readonly #takers = new Set<(key: string | undefined) => void>();
  #alarm: { readonly due: number; readonly cancel: AbortController } | undefined;
  #closed = false;

  constructor({ clock, random, maxKeys = 100_000, lanes, observer }: WorkQueueOptions) {
    this.#observer = observer;
    this.#lanes = new Lanes(lanes);
    this.#clock = clock;
    this.#random = random;
    this.#maxKeys = maxKeys;
  }

  /** Keys that are ready and that no worker has taken. */
  get depth(): number {
    return this.#ready.size;
  }

  /** What is waiting and being worked on now. */
  load(): QueueLoad {
    const now = this.#clock.monotonicMs();
    const runningMs = [...this.#taken.values()].map((since) => now - since);
    return {
      depth: this.#ready.size,
      active: this.#taken.size,
      unfinishedMs: runningMs.reduce((sum, ms) => sum + ms, 0),
      longestMs: Math.max(0, ...runningMs),
    };
  }

  /** Makes a key ready; while a worker has it, it becomes ready when that worker is done. */
  add(key: string): void {
    if (this.#closed) return;
    this.#refuseBeyondBound(key);
    this.#makeReady(key);
  }

  /** Makes a key ready after `ms`; of two such calls the earlier time counts. */
  addAfter(key: string, ms: number): void {
    if (this.#closed) return;
    this.#refuseBeyondBound(key);
    this.#delay(key, ms);
  }

  /** The next key, to be given back with `done`; undefined after `shutDown` or when the signal aborts. */
  take(signal: AbortSignal): Promise<string | undefined> {
    if (this.#closed || signal.aborted) return Promise.resolve(undefined);
    const key = this.#next();
    if (key !== undefined) return Promise.resolve(key);
    return new Promise((resolve) => {
      const taker = (taken: string | undefined): void => {
        this.#takers.delete(taker);
        signal.removeEventListener('abort', onAbort);
        resolve(taken);
      };
      const onAbort = (): void => taker(undefined);
      signal.addEventListener('abort', onAbort, { once: true });
      this.#takers.add(taker);
    });
  }

  /** Ends the work on a taken key. */
  done(key: string): void {
    const now = this.#clock.monotonicMs();
    this.#lanes.leave(key, now - (this.#taken.get(key) ?? now));
    this.#taken.delete(key);
    if (this.#again.delete(key) && !this.#closed) this.#markReady(key);
    this.#handOut();
  }

  /** Makes a key ready after its backoff (1 s, doubled with each failure up to 5 min) or `atLeastMs`. */
  retry(key: string, atLeastMs = 0): void {
    if (this.#closed) return;
    this.#observer?.retried();
    const failures = this.#failures.get(key) ?? 0;
    this.#failures.set(key, failures + 1);
    this.#delay(key, Math.max(backoffMs(failures, retryBackoff, this.#random), atLeastMs));
  }

  /** Forgets the failures of a key. */
  forget(key: string): void {
    this.#failures.delete(key);
  }

  /** Ends all waiting; keys that are left are dropped. */
  shutDown(): void {
    this.#closed = true;
    this.#alarm?.cancel.abort();
    for (const taker of this.#takers) taker(undefined);
  }

  #refuseBeyondBound(key: string): void {
    const waiting = this.#ready.size + this.#again.size + this.#delays.size;
    if (waiting < this.#maxKeys) return;
    if (this.#ready.has(key) || this.#again.has(key) || this.#delays.has(key)) return;
    throw new Error(`work queue is full: ${waiting} keys wait, ${key} is refused`);
  }

  #makeReady(key: string): void {
    if (this.#taken.has(key)) {
      this.#again.add(key);
      return;
    }
    this.#markReady(key);
    // Whoever waits has found no room for all the others: nothing has changed for them.
    const [taker] = this.#takers;
    if (taker && this.#enters(key)) taker(key);
  }

  #markReady(key: string): void {
    if (this.#ready.has(key)) return;
    this.#ready.set(key, this.#clock.monotonicMs());
    this.#observer?.added();
  }

  #handOut(): void {
    for (const taker of this.#takers) {
      const key = this.#next();
      if (key === undefined) return;
      taker(key);
    }
  }

  /** Takes the oldest key that is ready and whose lanes have room. */
  #next(): string | undefined {
    for (const key of this.#ready.keys()) {
      if (this.#enters(key)) return key;
    }
    return undefined;
  }

  /** Whether the lanes of a key that is ready have room; it is taken then. */
  #enters(key: string): boolean {
    const now = this.#clock.monotonicMs();
    if (!this.#lanes.enter(key, now)) return false;
    this.#observer?.taken(now - (this.#ready.get(key) ?? now));
    this.#ready.delete(key);
    this.#taken.set(key, now);
    return true;
  }

  #delay(key: string, ms: number): void {
    if (ms <= 0) {
      this.#makeReady(key);
      return;
    }
    this.#delays.add(key, this.#clock.monotonicMs() + ms);
    this.#setAlarm();
  }

  /** One timer for all delayed keys, set to the earliest. */
  #setAlarm(): void {
    const due = this.#delays.next;
    if (this.#closed || due === undefined) return;
    if (this.#alarm && this.#alarm.due <= due) return;
    this.#alarm?.cancel.abort();
    const alarm = { due, cancel: new AbortController() };
    this.#alarm = alarm;
    const wait = Math.max(0, due - this.#clock.monotonicMs());
    // A cancelled alarm was replaced by an earlier one or the queue was shut down.
    void passed(this.#clock, wait, alarm.cancel.signal).then((rings) => {
      if (rings && this.#alarm === alarm) this.#ring();
    });
  }

  #ring(): void {
    this.#alarm = undefined;
    const now = this.#clock.monotonicMs();
    for (let key = this.#delays.takeDue(now); key !== undefined; key = this.#delays.takeDue(now)) {
      this.#makeReady(key);
    }
    this.#setAlarm();
  }
}
