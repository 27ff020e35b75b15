import { jittered } from '../../time/backoff.ts';
import type { Clock, Random } from '../../time/clock.ts';
import type { KubeClient, WatchEvent } from '../client/client.ts';
import { pagesOf } from '../client/pages.ts';
import { KubeError } from '../errors.ts';
import { type KubeObject, keyOf } from '../object.ts';
import type { Resource } from '../resource.ts';
import { type Reading, readingsOf } from './reading.ts';
import {
  firstState,
  type ReflectorState,
  type RunningState,
  type StepResult,
  transition,
} from './reflector-state.ts';
import { isNewer, isOlder } from './resource-version.ts';
import type { Store } from './store.ts';

/**
 * A watch asks the server to end it after 20-25 s and is then resumed from where it stood, and a connection without a
 * byte for 30 s is given up: so a black-holed one is noticed within 30 s. A longer watch cannot notice, because a quiet
 * server sends a bookmark only once a minute, and TCP keepalives are answered by load balancers in between. The cost is
 * one request per collection and 22 s, served from the watch cache. The version to resume from stays fresh: 2 s before
 * the end of a watch the server sends a bookmark if other objects of the kind have changed meanwhile (seen on 1.37).
 */
const watchSeconds = { min: 20, max: 25 };
const idleMs = 30_000;

/** A watch that ends sooner and told nothing was not a good one; an idle one that a proxy cuts later was. */
const shortestWatchMs = 5_000;

/** ±20 %: finds what a watch failed to tell. */
const relistEveryMs = 600_000;
/** Until a list that was due and failed is tried again: the watch goes on meanwhile. */
const relistAgainMs = 60_000;

/**
 * Nobody waits for the list that comes every ten minutes, and what a page takes on its way into the store stays with the
 * process: pages of 500 Nodes would cost 20 MB more.
 */
const pageSize = 100;

const restored = new KubeError({
  status: 410,
  reason: 'Expired',
  message: 'the server was restored from a backup that is older than what it told',
});

export interface ReflectorOptions<T extends KubeObject> {
  readonly client: Pick<KubeClient, 'list' | 'watch'>;
  readonly resource: Resource<T>;
  /** How it is called in metrics and messages, where a process has several of a kind (default: the kind). */
  readonly name?: string;
  readonly namespace?: string;
  readonly labelSelector?: string;
  readonly fieldSelector?: string;
  readonly store: Store<T>;
  readonly clock: Clock;
  readonly random: Random;
  /** Everything that went wrong, and how long the reflector waits now (0: it goes on). */
  readonly onError?: (error: unknown, retryInMs: number) => void;
  /** Told how each list and each watch ended, for metrics. */
  readonly onStep?: (step: { readonly what: 'list' | 'watch'; readonly failed: boolean }) => void;
  /** Applied to every object before it is stored, for example to drop what nobody reads. */
  readonly transform?: (object: T) => T;
  /** Whether objects keep their managedFields; default: they are dropped. */
  readonly keepsManagedFields?: boolean;
}

export interface Reflector {
  /** Keeps the store equal to the collection until the signal aborts; does not reject. May run again afterwards. */
  run(signal: AbortSignal): Promise<void>;
  /** Resolves when the first list of the current (or, before it, the next) run is in the store. */
  readonly synced: Promise<void>;
  readonly state: ReflectorState['name'];
  readonly name: string;
  /** Since the server was last heard; undefined before the first list. */
  readonly silentMs: number | undefined;
}

/** Mirrors one collection of the API server into a store. */
export function createReflector<T extends KubeObject>(options: ReflectorOptions<T>): Reflector {
  const { client, store, clock, random, namespace, labelSelector, fieldSelector } = options;
  const { name = options.resource.kind } = options;
  const { onError = () => undefined, onStep = () => undefined } = options;
  const readings = readingsOf(options.resource, {
    transform: options.transform,
    isKnown: (object) => store.holds(object),
    keepsManagedFields: options.keepsManagedFields,
  });
  const selection = { namespace, labelSelector, fieldSelector };
  let state: ReflectorState = { name: 'stopped' };
  let synced = Promise.withResolvers<void>();
  let relistAt = 0;
  let heardAt: number | undefined;
  /** The server was away: it may know less than before. */
  let wasAway = false;

  async function run(signal: AbortSignal): Promise<void> {
    if (state.name !== 'stopped') throw new Error(`${name} reflector runs already`);
    state = firstState;
    while (state.name !== 'stopped') {
      const result: StepResult = signal.aborted ? { kind: 'aborted' } : await step(state, signal);
      told(() => countStep(state, result));
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
    if (!failed) heardAt = clock.monotonicMs();
    onStep({ what: current.name === 'listing' ? 'list' : 'watch', failed });
  }

  function step(current: RunningState, signal: AbortSignal): Promise<StepResult> {
    if (current.name === 'listing') return list(signal);
    if (current.name === 'waiting') return wait(current.waitMs, signal);
    return clock.monotonicMs() < relistAt
      ? follow(current.resourceVersion, signal)
      : Promise.resolve({ kind: 'relistDue' });
  }

  async function list(signal: AbortSignal): Promise<StepResult> {
    try {
      const listing = store.startList();
      let resourceVersion = '';
      for await (const page of pagesOf(client, readings, { ...selection, signal }, pageSize)) {
        ({ resourceVersion } = page);
        for (const reading of page.items) {
          listing.keep(keyOf(reading));
          const object = readable(reading);
          if (object) told(() => listing.add(object, resourceVersion));
        }
      }
      told(() => listing.end(resourceVersion));
      relistAt = clock.monotonicMs() + jittered(relistEveryMs, random);
      wasAway = false;
      synced.resolve();
      return { kind: 'listed', resourceVersion };
    } catch (error) {
      relistAt = clock.monotonicMs() + jittered(relistAgainMs, random);
      return failure(error, signal, { healthy: false });
    }
  }

  async function follow(from: string, signal: AbortSignal): Promise<StepResult> {
    let startedAt = clock.monotonicMs();
    const { min, max } = watchSeconds;
    const timeoutSeconds = Math.round(min + (max - min) * random());
    let resourceVersion = from;
    let heard = false;
    const healthy = (): boolean => heard || clock.monotonicMs() - startedAt >= shortestWatchMs;
    told(() => store.redeliver());
    try {
      if (wasAway && (await wentBack(from, signal))) throw restored;
      startedAt = clock.monotonicMs();
      const window = { ...selection, resourceVersion, timeoutSeconds, idleMs, signal };
      for await (const event of client.watch(readings, window)) {
        heard = true;
        heardAt = clock.monotonicMs();
        resourceVersion = take(event, resourceVersion);
      }
    } catch (error) {
      wasAway = true;
      return failure(error, signal, { resourceVersion, healthy: healthy() });
    }
    return { kind: 'ended', resourceVersion, healthy: healthy() };
  }

  /**
   * Whether the server knows less than was seen of it. It lets a watch begin at a version that it has not come to, and tells
   * nothing before it has (kubernetes/kubernetes#107457); a list without a version is never behind (it is read from etcd).
   */
  async function wentBack(from: string, signal: AbortSignal): Promise<boolean> {
    try {
      const { resourceVersion } = await client.list(readings, { ...selection, limit: 1, signal });
      wasAway = false;
      return isOlder(resourceVersion, from);
    } catch (error) {
      // A watch may work where lists fail; it is asked again at the next one.
      if (!signal.aborted) onError(error, 0);
      return false;
    }
  }

  async function wait(ms: number, signal: AbortSignal): Promise<StepResult> {
    try {
      await clock.sleep(ms, signal);
      return { kind: 'waited' };
    } catch (error) {
      return failure(error, signal, { healthy: false });
    }
  }

  /** Brings one event into the store and gives the version reached; what is not newer was seen before. */
  function take(event: WatchEvent<Reading<T>>, reached: string): string {
    const version = versionOf(event) ?? reached;
    if (!isNewer(version, reached)) return reached;
    if (event.type === 'BOOKMARK') return version;
    const { object: reading, type } = event;
    if (type === 'DELETED') told(() => store.remove(reading));
    else {
      const object = readable(reading);
      if (object) told(() => store.upsert(object));
    }
    return version;
  }

  /**
   * The object, unless it is known already or cannot be read. What was known of it before stays then: unreadable is not
   * absent. But an unreadable object of another uid says that the one before is gone.
   */
  function readable(reading: Reading<T>): T | undefined {
    if ('object' in reading) return reading.object;
    if (reading.known) return undefined;
    const key = keyOf(reading);
    onError(new Error(`reading ${name} ${key}`, { cause: reading.unreadable }), 0);
    const before = store.get(key);
    if (before && before.metadata.uid !== reading.metadata.uid) told(() => store.remove(reading));
    return undefined;
  }

  /** A listener or an index that throws is reported and stops nothing. */
  function told(change: () => void): void {
    try {
      change();
    } catch (error) {
      onError(error, 0);
    }
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
      return heardAt === undefined ? undefined : clock.monotonicMs() - heardAt;
    },
  };
}

function versionOf(event: WatchEvent<KubeObject>): string | undefined {
  return event.type === 'BOOKMARK' ? event.resourceVersion : event.object.metadata.resourceVersion;
}

function failure(
  error: unknown,
  signal: AbortSignal,
  where: { readonly resourceVersion?: string; readonly healthy: boolean },
): StepResult {
  return signal.aborted ? { kind: 'aborted' } : { kind: 'failed', error, ...where };
}
