import type { OpenstackConfigStatus } from '../../api/openstackconfig.ts';
import { keyOf } from '../../kube/object.ts';
import { backoffMs } from '../../time/backoff.ts';
import type { Clock, Random } from '../../time/clock.ts';
import { type ConfigObject, generationOf, statusOf } from '../openstack-config.ts';
import type { SyncResult } from '../sync/result.ts';

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

/** Nothing polls more often than this: a listing of a large project takes OpenStack longer. */
export const shortestPollMs = 1_000;

/** How often one OpenstackConfig is looked at. */
export interface Polling {
  readonly fastMs: number;
  readonly slowMs: number;
  readonly errorMs: number;
  /** How long polling stays fast after a change; 0 = it never is. */
  readonly windowMs: number;
}

/** What the next poll depends on. */
interface PollState {
  /** Syncs in a row that ended with a failed step. */
  readonly failures: number;
  /** How long the failed service asks to wait. */
  readonly retryAfterMs?: number | undefined;
  /** Since the last change of the OpenstackConfig or of a node; undefined = longer than this process runs. */
  readonly sinceChangeMs: number | undefined;
  /** Something is under way elsewhere that ends soon: a name that becomes free, an object that goes. */
  readonly waiting: boolean;
  /** Ports are DOWN and have fast looks left. */
  readonly downPorts: boolean;
}

/** A circuit breaker probes a service that stays down about once a minute; its next probe needs a caller. */
const longestProbeMs = 60_000;

/** Whatever a service asks for, a change is not missed for longer. */
const longestErrorMs = 300_000;

/** In a business cluster, what somebody edits or deletes is put right within this, however slowly a CR says to poll. */
const longestPollMs = 600_000;

/** Milliseconds until the next poll, with ±20 % so that many OpenstackConfigs do not poll together. */
export function nextPollMs(polling: Polling, state: PollState, random: Random): number {
  if (state.failures > 0) {
    const { retryAfterMs } = state;
    // Retry-After is a lower bound: a service may answer each request with the same short one.
    const longestMs = retryAfterMs === undefined ? longestErrorMs : longestProbeMs;
    const maxMs = Math.max(longestMs, polling.errorMs);
    const pauseMs = backoffMs(state.failures - 1, { baseMs: polling.errorMs, maxMs }, random);
    return Math.max(pauseMs, Math.min(retryAfterMs ?? 0, longestErrorMs));
  }
  const { sinceChangeMs, waiting, downPorts } = state;
  const changed = sinceChangeMs !== undefined && sinceChangeMs < polling.windowMs;
  const fast = changed || waiting || downPorts;
  const pollMs = fast ? polling.fastMs : polling.slowMs;
  return Math.min(pollMs, longestPollMs / 1.2) * (0.8 + 0.4 * random());
}

interface Settled {
  readonly object: ConfigObject;
  readonly config: { readonly polling: Polling; readonly downPortFastRetryMax: number };
  readonly synced: SyncResult;
  readonly status: OpenstackConfigStatus;
  readonly waiting: readonly string[];
}

/** When an OpenstackConfig is looked at again after a sync that came through. */
export function nextLookMs(
  { object, config, synced, status, waiting }: Settled,
  pace: Pace,
): number {
  const { delivery, isOutage } = synced;
  if (isOutage) {
    const asked = delivery.failures.flatMap(({ retryAfterMs = [] }) => retryAfterMs);
    const longest = asked.length === 0 ? undefined : Math.max(...asked);
    return pace.afterFailure(object, config.polling, longest);
  }
  const { downPortFastRetryMax } = config;
  const { fastAttempts = downPortFastRetryMax } = status.downPortRetry ?? {};
  return pace.afterSync(object, config.polling, {
    changed: delivery.accepted.length + delivery.removed.length > 0,
    waiting: waiting.length > 0,
    downPorts: fastAttempts < downPortFastRetryMax,
  });
}
