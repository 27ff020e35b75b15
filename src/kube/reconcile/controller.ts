import { aborted } from '../../time/aborted.ts';
import { type Clock, endOfWait, passed, type Random } from '../../time/clock.ts';
import type { Reflector } from '../cache/reflector.ts';
import type { Change, StoreView } from '../cache/store.ts';
import { KubeError } from '../errors.ts';
import type { KubeObject } from '../object.ts';
import type { LaneLimit } from './lanes.ts';
import { type QueueLoad, type QueueObserver, WorkQueue } from './queue.ts';
import { together } from './together.ts';

/** Requeue delay without a change; no value = only after the next change. */
export interface Outcome {
  readonly requeueAfterMs?: number;
}

/** A store with a mapping from changes to keys (default: the object's own key). */
export interface Source<T extends KubeObject> {
  readonly store: StoreView<T>;
  keys?(change: Change<T>): readonly string[];
  /** False: only later changes count, because the keys of all existing objects have a source of their own. */
  readonly countsExisting?: boolean;
}

export interface ReconcileResult {
  readonly key: string;
  readonly error?: unknown;
  readonly durationMs: number;
}

export interface ControllerOptions {
  readonly name: string;
  readonly workers: number;
  readonly lanes?: LaneLimit;
  /** A reconcile slower than this (ms) presumably waits for a response: its worker continues with other keys. */
  readonly slowMs?: number;
  /** Moves the actual state towards the desired state; retried with backoff when it throws. */
  readonly reconcile: (key: string, signal: AbortSignal) => Promise<Outcome | void>;
  readonly sources: readonly Source<KubeObject>[];
  /** Run by the controller; no key is reconciled before all reflectors have listed. */
  readonly reflectors: readonly Reflector[];
  readonly clock: Clock;
  readonly random: Random;
  /** Called for key events, for metrics. */
  readonly observer?: QueueObserver;
  /** Called after every reconcile, for log and metrics; if it throws, the controller ends with this error. */
  readonly onResult?: (result: ReconcileResult) => void;
}

export interface Controller {
  /**
   * Reconciles until the signal aborts and every worker has finished. May run again afterwards. Rejects, after
   * ending, when a reflector or a worker fails: a partial loop must not continue.
   */
  run(signal: AbortSignal): Promise<void>;
  /** Requests a reconcile for this key; before `run` the key is stored. */
  enqueue(key: string): void;
  /** Ready keys not taken by a worker. */
  readonly depth: number;
  /** Returns waiting and running keys, for metrics. */
  load(): QueueLoad;
}

/** Returns a source for `sources`, with `keys` typed by the store. */
export function sourceOf<T extends KubeObject>(
  store: StoreView<T>,
  keys?: (change: Change<T>) => readonly string[],
): Source<KubeObject> {
  const source: Source<T> = keys ? { store, keys } : { store };
  return source;
}

/** Slow reconciles one worker may leave running. */
const maxSlow = 64;

/** Creates a level-triggered control loop: changes become keys, keys become `reconcile` calls. */
export function createController(options: ControllerOptions): Controller {
  const { name, lanes, sources, reflectors, clock, random, onResult } = options;
  const early = new Set<string>();
  let queue: WorkQueue | undefined;

  async function run(signal: AbortSignal): Promise<void> {
    if (queue) throw new Error(`controller ${name} is already running`);
    const running = new WorkQueue({ clock, random, lanes, observer: options.observer });
    queue = running;
    for (const key of early) running.add(key);
    early.clear();
    const unsubscribe = sources.map((source) => follow(source, running));
    const mirrors = reflectors.map(
      (reflector, at) => [`reflector ${at + 1}`, (end: AbortSignal) => reflector.run(end)] as const,
    );
    try {
      await together(signal, clock, {
        ...Object.fromEntries(mirrors),
        workers: (end) => workAll(running, end),
      });
    } finally {
      for (const end of unsubscribe) end();
      running.shutDown();
      queue = undefined;
    }
  }

  async function workAll(keys: WorkQueue, signal: AbortSignal): Promise<void> {
    const synced = Promise.all(reflectors.map((reflector) => reflector.synced));
    await Promise.race([synced, aborted(signal)]);
    const workers = Array.from({ length: options.workers }, (_, n) => n + 1);
    await together(
      signal,
      clock,
      Object.fromEntries(workers.map((n) => [`worker ${n}`, (end) => work(keys, end)])),
    );
  }

  async function work(keys: WorkQueue, signal: AbortSignal): Promise<void> {
    const slow = new Set<Promise<void>>();
    // A slow reconcile may fail later; then this worker must fail, too. A race against a pending promise would retain
    // 600 bytes per reconcile.
    const failed = new AbortController();
    const ending = AbortSignal.any([signal, failed.signal]);
    const next = (): Promise<string | undefined> => keys.take(ending);
    for (let key = await next(); key !== undefined; key = await next()) {
      const taken = key;
      const done = reconcileOnce(keys, taken, signal).then(() => {
        keys.done(taken);
        slow.delete(done);
      });
      done.catch(() => failed.abort(endOfWait));
      slow.add(done);
      await until(done);
      if (slow.size > maxSlow) await Promise.race(slow);
    }
    await Promise.all(slow);
  }

  /** Waits for the work, at most `slowMs`. */
  async function until(done: Promise<void>): Promise<void> {
    if (options.slowMs === undefined) return done;
    const timer = new AbortController();
    await Promise.race([done, passed(clock, options.slowMs, timer.signal)]);
    timer.abort(endOfWait);
  }

  async function reconcileOnce(keys: WorkQueue, key: string, signal: AbortSignal): Promise<void> {
    const startedAt = clock.monotonicMs();
    const failure = await attempt(keys, key, signal);
    // Stopping aborts requests with the signal's reason: not a failure.
    if (failure && signal.aborted) return;
    onResult?.({ key, durationMs: clock.monotonicMs() - startedAt, ...failure });
  }

  async function attempt(
    keys: WorkQueue,
    key: string,
    signal: AbortSignal,
  ): Promise<{ readonly error: unknown } | undefined> {
    try {
      const outcome = await options.reconcile(key, signal);
      keys.forget(key);
      if (outcome?.requeueAfterMs !== undefined) keys.addAfter(key, outcome.requeueAfterMs);
      return undefined;
    } catch (error) {
      if (!signal.aborted)
        keys.retry(key, error instanceof KubeError ? error.retryAfterMs : undefined);
      return { error };
    }
  }

  return {
    run,
    enqueue(key) {
      if (queue) queue.add(key);
      else early.add(key);
    },
    get depth() {
      return queue?.depth ?? 0;
    },
    load: () => queue?.load() ?? { depth: 0, active: 0, unfinishedMs: 0, longestMs: 0 },
  };
}

/** Enqueues keys for all existing objects and for every later change. */
function follow(source: Source<KubeObject>, queue: WorkQueue): () => void {
  return source.store.subscribe(
    (change) => {
      for (const key of source.keys?.(change) ?? [change.key]) queue.add(key);
    },
    { replay: source.countsExisting ?? true },
  );
}
