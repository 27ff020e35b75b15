import { jittered } from '../../time/backoff.ts';
import type { Clock, Random } from '../../time/clock.ts';
import type { KubeClient } from '../client/client.ts';
import { pagesOf } from '../client/pages.ts';
import type { KubeObject } from '../object.ts';
import type { Resource } from '../resource.ts';
import { readingsOf } from './reading.ts';
import {
  firstState,
  type ReflectorState,
  type RunningState,
  type StepResult,
  transition,
} from './reflector-state.ts';
import { isRestored, restored } from './restored.ts';
import type { Store } from './store.ts';
import { createStoreFeed } from './store-feed.ts';

/**
 * Watch timing. A watch asks the server to end after 20-25 s, then resumes from its last version; a connection
 * without a byte for 30 s is closed. Hence a black-holed connection is detected within 30 s. Longer watches cannot
 * detect this: a quiet server sends a bookmark only once a minute, and load balancers answer TCP keepalives. Cost:
 * one request per collection and 22 s, served from the watch cache. The resume version stays fresh: 2 s before the
 * end the server sends a bookmark if other objects changed meanwhile (observed on 1.37).
 */
const watchSeconds = { min: 20, max: 25 };
const idleMs = 30_000;

/** A shorter watch without events counts as failed; a proxy cutting an idle watch later does not. */
const minWatchMs = 5_000;

/** Relist interval, ±20 %: finds events the watch missed. */
const relistEveryMs = 600_000;
/** Retry delay for a failed relist: the watch continues meanwhile. */
const relistRetryMs = 60_000;

/**
 * The ten-minute relist is not urgent, and the process keeps the memory for a page: pages with 500 Nodes would cost
 * 20 MB more.
 */
const pageSize = 100;

export interface ReflectorOptions<T extends KubeObject> {
  readonly client: Pick<KubeClient, 'list' | 'watch'>;
  readonly resource: Resource<T>;
  /** Name in metrics and messages, for several reflectors with one kind (default: the kind). */
  readonly name?: string;
  readonly namespace?: string;
  readonly labelSelector?: string;
  readonly fieldSelector?: string;
  readonly store: Store<T>;
  readonly clock: Clock;
  readonly random: Random;
  /** Called for every failure, with the pause in ms (0: no pause). */
  readonly onError?: (error: unknown, retryInMs: number) => void;
  /** Called after each list and watch, for metrics. */
  readonly onStep?: (step: { readonly what: 'list' | 'watch'; readonly failed: boolean }) => void;
  /** Applied to every object before storing, for example to drop unused fields. */
  readonly transform?: (object: T) => T;
  /** True: objects keep managedFields; default: dropped. */
  readonly keepsManagedFields?: boolean;
}

export interface Reflector {
  /** Keeps the store equal to the collection until the signal aborts; never rejects. May run again afterwards. */
  run(signal: AbortSignal): Promise<void>;
  /** Resolves when the current (or next) run's first list is in the store. */
  readonly synced: Promise<void>;
  readonly state: ReflectorState['name'];
  readonly name: string;
  /** Time since the last server response (ms); undefined before the first list. */
  readonly silentMs: number | undefined;
}

/** Creates a reflector: mirrors an API server collection into a store. */
export function createReflector<T extends KubeObject>(options: ReflectorOptions<T>): Reflector {
  const { client, store, clock, random, namespace, labelSelector, fieldSelector } = options;
  const { name = options.resource.kind } = options;
  const { onError = () => undefined, onStep = () => undefined } = options;
  const readings = readingsOf(options.resource, {
    transform: options.transform,
    isKnown: (object) => store.holds(object),
    keepsManagedFields: options.keepsManagedFields,
  });
  const feed = createStoreFeed({ store, name, onError: (error) => onError(error, 0) });
  const selection = { namespace, labelSelector, fieldSelector };
  let state: ReflectorState = { name: 'stopped' };
  let synced = Promise.withResolvers<void>();
  let relistAt = 0;
  let respondedAt: number | undefined;
  /** True after a failed watch: the server may have lost changes. */
  let wasUnreachable = false;

  async function run(signal: AbortSignal): Promise<void> {
    if (state.name !== 'stopped') throw new Error(`${name} reflector is already running`);
    state = firstState;
    while (state.name !== 'stopped') {
      const result: StepResult = signal.aborted ? { kind: 'aborted' } : await step(state, signal);
      feed.guarded(() => countStep(state, result));
      state = transition(state, result, random);
      if (result.kind === 'failed') {
        onError(result.error, state.name === 'waiting' ? state.waitMs : 0);
      }
    }
    synced = Promise.withResolvers();
  }

  function countStep(current: ReflectorState, { kind }: StepResult): void {
    if (kind === 'aborted' || kind === 'waited' || kind === 'relistDue') return;
    const failed = kind === 'failed';
    if (!failed) respondedAt = clock.monotonicMs();
    onStep({ what: current.name === 'listing' ? 'list' : 'watch', failed });
  }

  function step(current: RunningState, signal: AbortSignal): Promise<StepResult> {
    if (current.name === 'listing') return list(signal);
    if (current.name === 'waiting') return wait(clock, current.waitMs, signal);
    return clock.monotonicMs() < relistAt
      ? follow(current.resourceVersion, signal)
      : Promise.resolve({ kind: 'relistDue' });
  }

  async function list(signal: AbortSignal): Promise<StepResult> {
    try {
      const pages = pagesOf(client, readings, { ...selection, signal }, pageSize);
      const resourceVersion = await feed.takeList(pages);
      relistAt = clock.monotonicMs() + jittered(relistEveryMs, random);
      wasUnreachable = false;
      synced.resolve();
      return { kind: 'listed', resourceVersion };
    } catch (error) {
      relistAt = clock.monotonicMs() + jittered(relistRetryMs, random);
      return failure(error, signal, { healthy: false });
    }
  }

  async function follow(from: string, signal: AbortSignal): Promise<StepResult> {
    let startedAt = clock.monotonicMs();
    const times = watchTimes(random);
    let resourceVersion = from;
    let hasEvents = false;
    const healthy = (): boolean => hasEvents || clock.monotonicMs() - startedAt >= minWatchMs;
    feed.guarded(() => store.redeliver());
    try {
      if (wasUnreachable) await requireHistory(from, signal);
      startedAt = clock.monotonicMs();
      const window = { ...selection, resourceVersion, ...times, signal };
      for await (const event of client.watch(readings, window)) {
        hasEvents = true;
        respondedAt = clock.monotonicMs();
        resourceVersion = feed.take(event, resourceVersion);
      }
    } catch (error) {
      wasUnreachable = true;
      return failure(error, signal, { resourceVersion, healthy: healthy() });
    }
    return { kind: 'ended', resourceVersion, healthy: healthy() };
  }

  /** Throws if the server was restored from a backup. */
  async function requireHistory(from: string, signal: AbortSignal): Promise<void> {
    try {
      wasUnreachable = await isRestored(client, readings, { ...selection, signal }, from);
    } catch (error) {
      // A watch may work while lists fail; the next watch repeats this check.
      if (!signal.aborted) onError(error, 0);
      return;
    }
    if (wasUnreachable) throw restored;
  }

  return {
    run,
    get synced() {
      return synced.promise;
    },
    get state() {
      return state.name;
    },
    name,
    get silentMs() {
      return respondedAt === undefined ? undefined : clock.monotonicMs() - respondedAt;
    },
  };
}

function watchTimes(random: Random) {
  const { min, max } = watchSeconds;
  return { timeoutSeconds: Math.round(min + (max - min) * random()), idleMs };
}

async function wait(clock: Clock, ms: number, signal: AbortSignal): Promise<StepResult> {
  try {
    await clock.sleep(ms, signal);
    return { kind: 'waited' };
  } catch (error) {
    return failure(error, signal, { healthy: false });
  }
}

function failure(
  error: unknown,
  signal: AbortSignal,
  where: { readonly resourceVersion?: string; readonly healthy: boolean },
): StepResult {
  return signal.aborted ? { kind: 'aborted' } : { kind: 'failed', error, ...where };
}
