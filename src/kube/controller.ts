import type { Clock, Random } from './clock.ts';
import type { KubeObject } from './object.ts';
import type { Reflector } from './reflector.ts';
import type { Change, StoreView } from './store.ts';

/** When to look at the key again without a change; nothing = only after the next change. */
export interface Outcome {
  readonly requeueAfterMs?: number;
}

/** Changes of a store, and which keys they make us reconcile (default: the object's own). */
export interface Source<T extends KubeObject> {
  readonly store: StoreView<T>;
  keys?(change: Change<T>): readonly string[];
}

export interface ReconcileResult {
  readonly key: string;
  readonly error?: unknown;
  readonly durationMs: number;
}

export interface ControllerOptions {
  readonly name: string;
  readonly workers: number;
  readonly reconcile: (key: string, signal: AbortSignal) => Promise<Outcome | void>;
  readonly sources: readonly Source<KubeObject>[];
  readonly reflectors: readonly Reflector[];
  readonly clock: Clock;
  readonly random: Random;
  readonly onResult?: (result: ReconcileResult) => void;
}

export interface Controller {
  run(signal: AbortSignal): Promise<void>;
  enqueue(key: string): void;
}

/** A source for `sources`, with `keys` typed by the store. */
export function sourceOf<T extends KubeObject>(
  store: StoreView<T>,
  keys?: (change: Change<T>) => readonly string[],
): Source<KubeObject> {
  const source: Source<T> = keys ? { store, keys } : { store };
  return source;
}

export function createController(_options: ControllerOptions): Controller {
  throw new Error('being built');
}
