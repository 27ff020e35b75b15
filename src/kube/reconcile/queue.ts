import { backoffMs } from '../../time/backoff.ts';
import { type Clock, endOfWait, passed, type Random } from '../../time/clock.ts';
import { Delays } from './delays.ts';
import { type LaneLimit, Lanes } from './lanes.ts';

/** First retry after 1 s, maximum delay 5 min: a broken object costs 12 attempts an hour. */
const retryBackoff = { baseMs: 1_000, maxMs: 300_000 };

export interface WorkQueueOptions {
  readonly clock: Clock;
  readonly random: Random;
  /** Maximum number of waiting keys; `add` throws beyond (default 100,000). */
  readonly maxKeys?: number;
  /** Keys in a lane share a bottleneck, such as a server; the limit applies to keys taken at once. */
  readonly lanes?: LaneLimit | undefined;
  readonly observer?: QueueObserver | undefined;
}

/** Called for key events, for metrics. */
export interface QueueObserver {
  /** A key became ready, by a change or a due time. */
  added(): void;
  /** A key will return after a failure. */
  retried(): void;
  /** A worker took a key after `waitedMs` in the ready state. */
  taken(waitedMs: number): void;
}

/** Queue load at one moment. */
export interface QueueLoad {
  /** Ready keys not taken by a worker. */
  readonly depth: number;
  /** Keys taken by workers. */
  readonly active: number;
  /** Sum over all taken keys: time since taken (ms). */
  readonly unfinishedMs: number;
  /** Time since taken for the oldest taken key (ms). */
  readonly longestMs: number;
}

/** Work queue: each key waits once, never runs on two workers at once, and is retried with backoff. */
export class WorkQueue {
  readonly #clock: Clock;
  readonly #random: Random;
  readonly #maxKeys: number;
  /** Ready keys, with the time they became ready. */
  readonly #ready = new Map<string, number>();
  /** Taken keys, with the time they were taken. */
  readonly #taken = new Map<string, number>();
  readonly #observer: QueueObserver | undefined;
  /** Keys added while taken: ready again after done. */
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

  /** Ready keys not taken by a worker. */
  get depth(): number {
    return this.#ready.size;
  }

  /** Returns the current load. */
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

  /** Makes a key ready; a taken key becomes ready after done. */
  add(key: string): void {
    if (this.#closed) return;
    this.#refuseBeyondBound(key);
    this.#makeReady(key);
  }

  /** Makes a key ready after `ms`; the earlier due time wins. */
  addAfter(key: string, ms: number): void {
    if (this.#closed) return;
    this.#refuseBeyondBound(key);
    this.#delay(key, ms);
  }

  /** Resolves to the next key, to be finished with `done`; undefined after `shutDown` or abort. */
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

  /** Finishes a taken key. */
  done(key: string): void {
    const now = this.#clock.monotonicMs();
    this.#lanes.leave(key, now - (this.#taken.get(key) ?? now));
    this.#taken.delete(key);
    if (this.#again.delete(key) && !this.#closed) this.#markReady(key);
    this.#handOut();
  }

  /** Makes a key ready after its backoff (1 s, doubled per failure up to 5 min) or `atLeastMs`. */
  retry(key: string, atLeastMs = 0): void {
    if (this.#closed) return;
    this.#observer?.retried();
    const failures = this.#failures.get(key) ?? 0;
    this.#failures.set(key, failures + 1);
    this.#delay(key, Math.max(backoffMs(failures, retryBackoff, this.#random), atLeastMs));
  }

  /** Resets a key's failure count. */
  forget(key: string): void {
    this.#failures.delete(key);
  }

  /** Ends all waiting takes; remaining keys are dropped. */
  shutDown(): void {
    this.#closed = true;
    this.#alarm?.cancel.abort(endOfWait);
    for (const taker of this.#takers) taker(undefined);
  }

  #refuseBeyondBound(key: string): void {
    const waiting = this.#ready.size + this.#again.size + this.#delays.size;
    if (waiting < this.#maxKeys) return;
    if (this.#ready.has(key) || this.#again.has(key) || this.#delays.has(key)) return;
    throw new Error(`work queue is full (${waiting} keys): ${key} is dropped`);
  }

  #makeReady(key: string): void {
    if (this.#taken.has(key)) {
      this.#again.add(key);
      return;
    }
    this.#markReady(key);
    // If a taker waits, all other ready keys are in full lanes: only the new key needs a check.
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

  /** Takes the oldest ready key with free lane slots. */
  #next(): string | undefined {
    for (const key of this.#ready.keys()) {
      if (this.#enters(key)) return key;
    }
    return undefined;
  }

  /** Takes a ready key if its lanes have free slots; returns success. */
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

  /** Sets one timer for all delayed keys, to the earliest due time. */
  #setAlarm(): void {
    const due = this.#delays.next;
    if (this.#closed || due === undefined) return;
    if (this.#alarm && this.#alarm.due <= due) return;
    this.#alarm?.cancel.abort(endOfWait);
    const alarm = { due, cancel: new AbortController() };
    this.#alarm = alarm;
    const wait = Math.max(0, due - this.#clock.monotonicMs());
    // A cancelled alarm was replaced by an earlier one, or the queue was shut down.
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
