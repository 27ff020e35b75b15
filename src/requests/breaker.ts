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
const windows = { baseMs: 1_000, maxMs: 30_000 };
const longestRetryAfterMs = 300_000;

export interface BreakerOptions {
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Logger;
}

interface Outage {
  readonly failure: RequestError;
  readonly attempt: number;
  /** Monotonic time of the next probe. */
  readonly until: number;
}

/**
 * Circuit breaker of one service: after an outage one probing call per backoff window, everybody else gets the last
 * error at once; callers that come while the probe is under way wait for its outcome.
 */
export class Breaker {
  readonly #clock: Clock;
  readonly #random: Random;
  readonly #log: Logger;
  #failures = 0;
  #outage: Outage | undefined;
  #probe: Promise<void> | undefined;

  constructor({ clock, random, log }: BreakerOptions) {
    this.#clock = clock;
    this.#random = random;
    this.#log = log;
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
    try {
      const result = await work;
      this.#recovered();
      return result;
    } catch (error) {
      if (isRequestError(error)) this.#failed(error);
      throw error;
    }
  }

  #failed(failure: RequestError): void {
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
    const windowMs = Math.max(backoffMs(attempt, windows, this.#random), asked);
    this.#outage = { failure, attempt, until: now + windowMs };
    const { kind, status } = failure;
    this.#log.warn({ kind, status, windowMs }, 'service left alone for a while');
  }

  #recovered(): void {
    this.#failures = 0;
    if (this.#outage !== undefined) this.#log.info('service answers again');
    this.#outage = undefined;
  }
}

function repeated(failure: RequestError, retryAfterMs: number): RequestError {
  return new RequestError(failure.reason, {
    service: failure.service,
    kind: failure.kind,
    retryAfterMs,
    ...(failure.status === undefined ? {} : { status: failure.status }),
    cause: failure,
  });
}
