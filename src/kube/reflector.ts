import type { KubeClient } from './client.ts';
import type { Clock, Random } from './clock.ts';
import type { KubeObject } from './object.ts';
import type { Resource } from './resource.ts';
import type { Store } from './store.ts';

export interface ReflectorOptions<T extends KubeObject> {
  readonly client: Pick<KubeClient, 'list' | 'watch'>;
  readonly resource: Resource<T>;
  readonly namespace?: string;
  readonly labelSelector?: string;
  readonly fieldSelector?: string;
  readonly store: Store<T>;
  readonly clock: Clock;
  readonly random: Random;
  /** Everything that went wrong and how long it waits until the next try. */
  readonly onError?: (error: unknown, retryInMs: number) => void;
  /** Applied to every object before it is stored, for example to drop what nobody reads. */
  readonly transform?: (object: T) => T;
}

export interface Reflector {
  /** Keeps the store equal to the collection until the signal aborts; never rejects. */
  run(signal: AbortSignal): Promise<void>;
  /** Resolves when the first list of the current run is in the store. */
  readonly synced: Promise<void>;
  readonly state: 'stopped' | 'listing' | 'watching' | 'waiting';
}

/** Mirrors one collection of the API server into a store. */
export function createReflector<T extends KubeObject>(_options: ReflectorOptions<T>): Reflector {
  throw new Error('being built');
}
