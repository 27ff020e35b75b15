import type { OpenstackConfigStatus } from '../../../api/openstackconfig.ts';
import { backoffMs } from '../../../time/backoff.ts';
import type { Clock, Random } from '../../../time/clock.ts';
import type { ConfigMemory } from '../../model/memory/config-memory.ts';
import { Slot } from '../../model/memory/slot.ts';
import { type ConfigObject, generationOf, statusOf } from '../../model/openstack-config.ts';
import type { Polling } from '../../model/polling.ts';
import type { SyncResult } from '../../report/result.ts';

/** One OpenstackConfig's poll interval. */
export const pollInterval = new Slot((memory: ConfigMemory) => new PollInterval(memory));

const cleanup = { baseMs: 2_000, maxMs: 60_000 };

/** Decides when an OpenstackConfig is synced again. Every `after…` returns milliseconds. */
export class PollInterval {
  readonly #clock: Clock;
  readonly #random: Random;
  #generation: number | undefined;
  /** Monotonic time when the CR or a node last changed; undefined: no change since process start. */
  #changedAt: number | undefined;
  /** Consecutive syncs that failed, or that found nodes still waiting for cleanup. */
  #failures = 0;

  constructor({ clock, random }: { readonly clock: Clock; readonly random: Random }) {
    this.#clock = clock;
    this.#random = random;
  }

  /** Records a reconcile; a new or edited object counts as just changed. */
  begin(object: ConfigObject): void {
    const generation = generationOf(object);
    if (this.#generation === generation) return;
    const edited =
      this.#generation !== undefined || statusOf(object).observedGeneration !== generation;
    this.#changedAt = edited ? this.#clock.monotonicMs() : this.#createdAt(object);
    this.#generation = generation;
    this.#failures = 0;
  }

  /** Returns the maximum age for a shared read: half a poll interval, to keep the delay by sharing short. */
  maxAgeMs({ fastMs, slowMs, windowMs }: Polling): number {
    const recently = this.#sinceChange() ?? Number.POSITIVE_INFINITY;
    return (recently < windowMs ? fastMs : slowMs) / 2;
  }

  afterFailure(polling: Polling, retryAfterMs: number | undefined): number {
    this.#failures += 1;
    const state = { failures: this.#failures, retryAfterMs, sinceChangeMs: undefined };
    return nextPollMs(polling, { ...state, waiting: false, downPorts: false }, this.#random);
  }

  afterSync(
    polling: Polling,
    now: { readonly changed: boolean; readonly waiting: boolean; readonly downPorts: boolean },
  ): number {
    this.#failures = 0;
    if (now.changed) this.#changedAt = this.#clock.monotonicMs();
    const sinceChangeMs = this.#sinceChange();
    return nextPollMs(polling, { ...now, failures: 0, sinceChangeMs }, this.#random);
  }

  /** Returns the delay while nodes are being cleaned up: short at first, then with backoff. */
  afterCleanup(): number {
    this.#failures += 1;
    return backoffMs(this.#failures - 1, cleanup, this.#random);
  }

  // A restart must not shorten the fast polling after creation.
  #createdAt({ metadata }: ConfigObject): number | undefined {
    const age = this.#clock.now().getTime() - Date.parse(metadata.creationTimestamp ?? '');
    return Number.isNaN(age) ? undefined : this.#clock.monotonicMs() - Math.max(0, age);
  }

  #sinceChange(): number | undefined {
    return this.#changedAt === undefined ? undefined : this.#clock.monotonicMs() - this.#changedAt;
  }
}

/** Inputs for the next poll interval. */
interface PollState {
  /** Consecutive syncs with a failed step. */
  readonly failures: number;
  /** Retry-After from the failed service. */
  readonly retryAfterMs?: number | undefined;
  /** Since the last change to the OpenstackConfig or a node; undefined: no change since process start. */
  readonly sinceChangeMs: number | undefined;
  /**
   * A node waits for a change in the business cluster: a NIC name becoming free, or an object being deleted.
   */
  readonly waiting: boolean;
  /** Some DOWN ports have fast polls left. */
  readonly downPorts: boolean;
}

/**
 * Longest backoff with Retry-After: a circuit breaker probes about once a minute, and each probe needs a
 * caller.
 */
const longestProbeMs = 60_000;

/** Longest wait after an error, even if Retry-After is longer. */
const longestErrorMs = 300_000;

/** Longest poll interval: within this time the operator reverts edits and deletions in a business cluster. */
const longestPollMs = 600_000;

/** Returns the milliseconds until the next poll, with ±20 % jitter to spread the OpenstackConfigs. */
export function nextPollMs(polling: Polling, state: PollState, random: Random): number {
  if (state.failures > 0) {
    const { retryAfterMs } = state;
    // Retry-After is a lower bound: a service may answer every request with the same short value.
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
  readonly config: { readonly polling: Polling; readonly downPortFastRetryMax: number };
  readonly synced: SyncResult;
  readonly status: OpenstackConfigStatus;
  readonly waiting: readonly string[];
}

/** Returns the milliseconds until the next sync after a completed sync. */
export function nextSyncMs(
  { config, synced, status, waiting }: Settled,
  interval: PollInterval,
): number {
  const { delivery, isOutage } = synced;
  if (isOutage) {
    const retryAfters = delivery.failures.flatMap(({ retryAfterMs = [] }) => retryAfterMs);
    const longest = retryAfters.length === 0 ? undefined : Math.max(...retryAfters);
    return interval.afterFailure(config.polling, longest);
  }
  const { downPortFastRetryMax } = config;
  const { fastAttempts = downPortFastRetryMax } = status.downPortRetry ?? {};
  return interval.afterSync(config.polling, {
    changed: delivery.accepted.length + delivery.removed.length > 0,
    waiting: waiting.length > 0,
    downPorts: fastAttempts < downPortFastRetryMax,
  });
}
