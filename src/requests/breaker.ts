import type { Logger } from '../process/log.ts';
import { backoffMs } from '../time/backoff.ts';
import type { Clock, Random } from '../time/clock.ts';
import { type FailureKind, isRequestError, RequestError } from './request-error.ts';
import { unlessAborted } from './unless-aborted.ts';

/** How many failed calls in a row open the circuit; kinds that are not named say nothing about the service's health. */
const opensAfter: Partial<Record<FailureKind, number>> = {
  timeout: 1,
  unreachable: 1,
  rateLimited: 1,
  // A wrong password must not be tried by every sync: Keystone may lock the account.
  badCredential: 1,
  // One broken resource gives a 500 as well.
  serverError: 3,
};
const shortestWindowMs = 1_000;
const usualLongestWindowMs = 30_000;
const longestRetryAfterMs = 300_000;

export interface BreakerOptions {
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Logger;
  /** A service that stays down is probed this often, probes that hang included (default: 30 s). */
  readonly longestWindowMs?: number | undefined;
  /** Told when a service that was left alone answers again. */
  readonly onRecovered?: (() => void) | undefined;
}

interface Outage {
  readonly failure: RequestError;
  readonly attempt: number;
  /** Monotonic time of the next probe. */
  readonly until: number;
}

/**
 * Circuit breaker of one service: after an outage one probing call per backoff window, everybody else gets the last
 * error at once, and when the next probe is due; callers that come while the probe is under way wait for its outcome.
 */
export class Breaker {
  readonly #clock: Clock;
  readonly #random: Random;
  readonly #log: Logger;
  readonly #longestWindowMs: number;
  readonly #onRecovered: (() => void) | undefined;
  #failures = 0;
  #outage: Outage | undefined;
  #probe: Promise<void> | undefined;

  constructor(options: BreakerOptions) {
    this.#clock = options.clock;
    this.#random = options.random;
    this.#log = options.log;
    this.#longestWindowMs = options.longestWindowMs ?? usualLongestWindowMs;
    this.#onRecovered = options.onRecovered;
  }

  /** Runs `work`, told whether it is the probe (and then must not repeat anything), or fails without it. */
  async run<T>(signal: AbortSignal, work: (probing: boolean) => Promise<T>): Promise<T> {
    while (this.#probe !== undefined) await unlessAborted(this.#probe, signal);
    if (this.#outage === undefined) return this.#observe(work(false));
    const waitMs = this.#outage.until - this.#clock.monotonicMs();
    if (waitMs > 0) throw repeated(this.#outage.failure, waitMs);
    const probe = this.#observe(work(true));
    this.#probe = probe
      .then(
        () => undefined,
        () => undefined, // the caller of the probe gets its error
      )
      .finally(() => {
        this.#probe = undefined;
      });
    return probe;
  }

  async #observe<T>(work: Promise<T>): Promise<T> {
    const startedAt = this.#clock.monotonicMs();
    try {
      const result = await work;
      this.#recovered();
      return result;
    } catch (error) {
      if (!isRequestError(error)) throw error;
      this.#failed(error, startedAt);
      const leftMs = (this.#outage?.until ?? 0) - this.#clock.monotonicMs();
      throw leftMs > 0 ? withPause(error, leftMs) : error;
    }
  }

  #failed(failure: RequestError, startedAt: number): void {
    const threshold = opensAfter[failure.kind];
    if (threshold === undefined) {
      // The service answered, and that is health.
      this.#recovered();
      return;
    }
    this.#failures += 1;
    if (this.#outage === undefined && this.#failures < threshold) return;
    const now = this.#clock.monotonicMs();
    // Calls that were under way together fail together: they are one failed attempt.
    if (this.#outage !== undefined && this.#outage.until > now) return;
    const attempt = this.#outage === undefined ? 0 : this.#outage.attempt + 1;
    const asked = Math.min(failure.retryAfterMs ?? 0, longestRetryAfterMs);
    const windowMs = Math.max(this.#windowMs(attempt, now - startedAt), asked);
    this.#outage = { failure, attempt, until: now + windowMs };
    const { kind, status } = failure;
    this.#log.warn({ kind, status, windowMs }, 'service left alone for a while');
  }

  /** The longest one is exact: there is one prober, and it is known how often the service is asked. */
  #windowMs(attempt: number, spentMs: number): number {
    const longest = this.#longestWindowMs;
    const growing = { baseMs: shortestWindowMs, maxMs: 2 * longest };
    const windowMs = Math.min(backoffMs(attempt, growing, this.#random), longest);
    // A probe that hung until its deadline was a pause as well.
    return windowMs < longest ? windowMs : Math.max(longest - spentMs, shortestWindowMs);
  }

  #recovered(): void {
    this.#failures = 0;
    if (this.#outage === undefined) return;
    this.#outage = undefined;
    this.#log.info('service answers again');
    this.#onRecovered?.();
  }
}

/** What others are told of a failure: it was not their request that had the id. */
function repeated(failure: RequestError, retryAfterMs: number): RequestError {
  const { reason, service, kind, status } = failure;
  const answer = status === undefined ? {} : { status };
  return new RequestError(reason, { service, kind, ...answer, retryAfterMs, cause: failure });
}

function withPause(failure: RequestError, retryAfterMs: number): RequestError {
  const { reason, service, kind, status, code, requestId } = failure;
  const answer = {
    ...(status === undefined ? {} : { status }),
    ...(code === undefined ? {} : { code }),
    ...(requestId === undefined ? {} : { requestId }),
  };
  return new RequestError(reason, { service, kind, ...answer, retryAfterMs, cause: failure });
}
