import { keyOf } from '../../kube/object.ts';
import { backoffMs } from '../../time/backoff.ts';
import type { Clock, Random } from '../../time/clock.ts';
import { type ConfigObject, generationOf, statusOf } from '../openstack-config.ts';
import { nextPollMs, type Polling } from './poll.ts';

/** What is kept about an OpenstackConfig between two looks; losing it costs a few polls, nothing else. */
interface Memory {
  readonly uid: string;
  readonly generation: number;
  /** Monotonic time of the last change of the CR or of a node; undefined = not since this process runs. */
  readonly changedAt: number | undefined;
  /** Looks in a row that failed, or that found nodes not clean yet. */
  readonly failures: number;
}

const cleanup = { baseMs: 2_000, maxMs: 60_000 };

/** Decides when each OpenstackConfig is looked at again. Every `after…` answers milliseconds. */
export class Pace {
  readonly #clock: Clock;
  readonly #random: Random;
  readonly #memories = new Map<string, Memory>();

  constructor({ clock, random }: { readonly clock: Clock; readonly random: Random }) {
    this.#clock = clock;
    this.#random = random;
  }

  /** Notes that the object is looked at: a new or edited one has just changed. */
  begin(object: ConfigObject): void {
    const key = keyOf(object);
    const before = this.#memories.get(key);
    const uid = object.metadata.uid ?? '';
    const generation = generationOf(object);
    if (before?.uid === uid && before.generation === generation) return;
    const edited = before !== undefined || statusOf(object).observedGeneration !== generation;
    const changedAt = edited ? this.#clock.monotonicMs() : this.#createdAt(object);
    this.#memories.set(key, { uid, generation, changedAt, failures: 0 });
  }

  forget(key: string): void {
    this.#memories.delete(key);
  }

  /** How old a shared observation may be: half a poll, so that sharing costs little in how soon a change is seen. */
  maxAgeMs(object: ConfigObject, { fastMs, slowMs, windowMs }: Polling): number {
    const recently = this.#sinceChange(object) ?? Number.POSITIVE_INFINITY;
    return (recently < windowMs ? fastMs : slowMs) / 2;
  }

  afterFailure(object: ConfigObject, polling: Polling, retryAfterMs: number | undefined): number {
    const failures = this.#count(object);
    const state = { failures, retryAfterMs, sinceChangeMs: undefined };
    return nextPollMs(polling, { ...state, waiting: false, downPorts: false }, this.#random);
  }

  afterSync(
    object: ConfigObject,
    polling: Polling,
    now: { readonly changed: boolean; readonly waiting: boolean; readonly downPorts: boolean },
  ): number {
    const change = now.changed ? { changedAt: this.#clock.monotonicMs() } : {};
    this.#update(object, { failures: 0, ...change });
    const sinceChangeMs = this.#sinceChange(object);
    return nextPollMs(polling, { ...now, failures: 0, sinceChangeMs }, this.#random);
  }

  /** Nodes are being cleaned: soon at first, then ever later. */
  afterCleanup(object: ConfigObject): number {
    return backoffMs(this.#count(object) - 1, cleanup, this.#random);
  }

  // A restart must not end the time in which ports are attached to a new OpenstackConfig.
  #createdAt({ metadata }: ConfigObject): number | undefined {
    const age = this.#clock.now().getTime() - Date.parse(metadata.creationTimestamp ?? '');
    return Number.isNaN(age) ? undefined : this.#clock.monotonicMs() - Math.max(0, age);
  }

  #sinceChange(object: ConfigObject): number | undefined {
    const changedAt = this.#memories.get(keyOf(object))?.changedAt;
    return changedAt === undefined ? undefined : this.#clock.monotonicMs() - changedAt;
  }

  #count(object: ConfigObject): number {
    const failures = (this.#memories.get(keyOf(object))?.failures ?? 0) + 1;
    this.#update(object, { failures });
    return failures;
  }

  #update(object: ConfigObject, change: Partial<Memory>): void {
    const memory = this.#memories.get(keyOf(object));
    if (memory) this.#memories.set(keyOf(object), { ...memory, ...change });
  }
}
