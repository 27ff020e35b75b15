import type { Logger } from '../process/log.ts';
import { backoffMs } from '../time/backoff.ts';
import type { Clock, Random } from '../time/clock.ts';
import { type FailureKind, isRequestError, RequestError } from './request-error.ts';
import { unlessAborted } from './unless-aborted.ts';

/** Consecutive failures before the breaker opens; missing kinds do not indicate an outage. */
const opensAfter: Partial<Record<FailureKind, number>> = {
  timeout: 1,
  unreachable: 1,
  rateLimited: 1,
  // Repeated syncs must not try a wrong password: Keystone may lock the account.
  badCredential: 1,
  // A single broken resource also returns 500.
  serverError: 3,
};
const minWindowMs = 1_000;
const defaultLongestWindowMs = 30_000;
const maxRetryAfterMs = 300_000;

export interface BreakerOptions {
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Logger;
  /** Probe interval during a long outage, including hanging probes (default: 30 s). */
  readonly longestWindowMs?: number | undefined;
  /** Called when a service answers again after an outage. */
  readonly onRecovered?: (() => void) | undefined;
}

interface Outage {
  readonly failure: RequestError;
  readonly attempt: number;
  /** Monotonic time for the next probe. */
  readonly until: number;
}

/**
 * A service's circuit breaker. After an outage one call per backoff window is the probe. All other callers get the
 * last error and the time until the next probe at once. Callers during the probe wait for its outcome.
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
    this.#longestWindowMs = options.longestWindowMs ?? defaultLongestWindowMs;
    this.#onRecovered = options.onRecovered;
  }

  /** Runs `work`, or fails without running. `probing`: this call is the probe and must not be repeated. */
  async run<T>(signal: AbortSignal, work: (probing: boolean) => Promise<T>): Promise<T> {
    while (this.#probe !== undefined) await unlessAborted(this.#probe, signal);
    if (this.#outage === undefined) return this.#observe(work(false));
    const waitMs = this.#outage.until - this.#clock.monotonicMs();
    if (waitMs > 0) throw refusalOf(this.#outage.failure, waitMs);
    const probe = this.#observe(work(true));
    this.#probe = probe
      .then(
        () => undefined,
        () => undefined, // the probe's caller gets its error
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
      // The service answered, hence is healthy.
      this.#recovered();
      return;
    }
    this.#failures += 1;
    if (this.#outage === undefined && this.#failures < threshold) return;
    const now = this.#clock.monotonicMs();
    // Concurrent calls fail together and count as one failed attempt.
    if (this.#outage !== undefined && this.#outage.until > now) return;
    const attempt = this.#outage === undefined ? 0 : this.#outage.attempt + 1;
    const requestedMs = Math.min(failure.retryAfterMs ?? 0, maxRetryAfterMs);
    const windowMs = Math.max(this.#windowMs(attempt, now - startedAt), requestedMs);
    this.#outage = { failure, attempt, until: now + windowMs };
    const { kind, status } = failure;
    this.#log.warn({ kind, status, windowMs }, 'service failing, calls paused');
  }

  /**
   * Returns the next window. The longest window has no jitter: each breaker sends one probe at a time, at a known
   * rate.
   */
  #windowMs(attempt: number, spentMs: number): number {
    const longest = this.#longestWindowMs;
    const growing = { baseMs: minWindowMs, maxMs: 2 * longest };
    const windowMs = Math.min(backoffMs(attempt, growing, this.#random), longest);
    // A probe that hung until its deadline already counts as a pause.
    return windowMs < longest ? windowMs : Math.max(longest - spentMs, minWindowMs);
  }

  #recovered(): void {
    this.#failures = 0;
    if (this.#outage === undefined) return;
    this.#outage = undefined;
    this.#log.info('service available again');
    this.#onRecovered?.();
  }
}

/** Returns an error for callers without a request: no request id. */
function refusalOf(failure: RequestError, retryAfterMs: number): RequestError {
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
