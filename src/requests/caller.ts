import type { Logger } from '../process/log.ts';
import { backoffMs } from '../time/backoff.ts';
import type { Clock, Random } from '../time/clock.ts';
import { Breaker } from './breaker.ts';
import { refuseRedirect } from './redirect.ts';
import {
  type FailureKind,
  isRequestError,
  type RequestError,
  type Service,
} from './request-error.ts';
import type { HttpAnswer, HttpRequest, TlsOptions, Transport } from './transport.ts';

/** A sent HTTP request, for metrics. */
export interface RequestSample {
  readonly service: Service;
  readonly method: string;
  readonly url: URL;
  readonly outcome: number | FailureKind;
  readonly durationMs: number;
}

export interface Call {
  readonly service: Service;
  readonly method: HttpRequest['method'];
  readonly url: URL;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
  /** Default: the caller's timeout. */
  readonly timeoutMs?: number;
  /** Default: the transport's limit. */
  readonly bodyLimitBytes?: number;
  /** Returns true for a 429 or 5xx answer the call accepts. */
  readonly isAnswer?: (answer: HttpAnswer) => boolean;
  /** False: never retried, the calling code decides. Default: retried if useful. */
  readonly repeats?: boolean;
  /** Throws a RequestError for an unacceptable answer; the error counts for retries and circuit breaker. */
  readonly check?: (answer: HttpAnswer) => void;
}

export interface CallerOptions {
  readonly transport: Transport;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Logger;
  readonly tls: TlsOptions;
  readonly lane?: string;
  readonly timeoutMs: number;
  /** Returns the service's RequestError for a non-success answer. */
  readonly failureOf: (call: Call, answer: HttpAnswer, now: Date) => RequestError;
  readonly onRequest?: ((sample: RequestSample) => void) | undefined;
  /** See Breaker. */
  readonly longestWindowMs?: number;
  readonly onRecovered?: (() => void) | undefined;
}

/**
 * Calls services with common outages, such as one cloud's services: retries transient failures, and pauses calls
 * during an outage.
 */
export interface Caller {
  /** Returns the answer; throws on 429, 5xx and missing answers. */
  call(call: Call, signal: AbortSignal): Promise<HttpAnswer>;
  /** Number of requests sent. */
  readonly calls: number;
}

const attempts = 3;
const pauses = { baseMs: 200, maxMs: 2_000 };
// Longer waits belong to the work queue, free to do other work meanwhile.
const maxPauseMs = 3_000;
// A timed-out request is retried once; a third wait would block a worker for half a minute.
const retryTimeFactor = 1.5;

/** Creates a Caller. Requests are retried and must be idempotent (reads and logins are). */
export function createCaller(options: CallerOptions): Caller {
  const { transport, clock, random, log, tls } = options;
  const breakers = new Map<Service, Breaker>();
  let calls = 0;

  function breakerOf(service: Service): Breaker {
    let breaker = breakers.get(service);
    if (breaker === undefined) {
      breaker = new Breaker({ ...options, log: log.child({ service }) });
      breakers.set(service, breaker);
    }
    return breaker;
  }

  async function once(call: Call, request: HttpRequest, signal: AbortSignal): Promise<HttpAnswer> {
    const started = clock.monotonicMs();
    const report = (outcome: number | FailureKind): void =>
      options.onRequest?.({
        service: request.service,
        method: request.method,
        url: request.url,
        outcome,
        durationMs: clock.monotonicMs() - started,
      });
    calls += 1;
    try {
      const answer = await transport.send(request, signal);
      report(answer.status);
      refuseRedirect(request, answer);
      if (isBusyOrBroken(answer) && call.isAnswer?.(answer) !== true)
        throw options.failureOf(call, answer, clock.now());
      call.check?.(answer);
      return answer;
    } catch (error) {
      if (isRequestError(error) && error.status === undefined) report(error.kind);
      throw error;
    }
  }

  async function withRetries(
    call: Call,
    request: HttpRequest,
    signal: AbortSignal,
  ): Promise<HttpAnswer> {
    const started = clock.monotonicMs();
    for (let attempt = 0; ; attempt++) {
      try {
        return await once(call, request, signal);
      } catch (error) {
        if (!isRequestError(error) || attempt === attempts - 1) throw error;
        const pauseMs = pauseBefore(error, attempt, random);
        const spentMs = clock.monotonicMs() - started + (pauseMs ?? 0);
        if (pauseMs === undefined || spentMs > retryTimeFactor * request.timeoutMs) throw error;
        await clock.sleep(pauseMs, signal);
      }
    }
  }

  return {
    async call(call, signal) {
      const { service, method, url, headers, body, bodyLimitBytes } = call;
      const request: HttpRequest = {
        service,
        method,
        url,
        ...(headers === undefined ? {} : { headers }),
        ...(body === undefined ? {} : { body }),
        ...(bodyLimitBytes === undefined ? {} : { bodyLimitBytes }),
        tls,
        ...(options.lane === undefined ? {} : { lane: options.lane }),
        timeoutMs: call.timeoutMs ?? options.timeoutMs,
      };
      return breakerOf(service).run(signal, async (probing) =>
        probing || call.repeats === false
          ? once(call, request, signal)
          : withRetries(call, request, signal),
      );
    },
    get calls() {
      return calls;
    },
  };
}

function isBusyOrBroken({ status }: HttpAnswer): boolean {
  return status === 429 || status >= 500;
}

/** Returns the delay (ms) before the next attempt; undefined: retrying is useless now. */
function pauseBefore(failure: RequestError, attempt: number, random: Random): number | undefined {
  const transient: readonly FailureKind[] = [
    'timeout',
    'unreachable',
    'serverError',
    'rateLimited',
  ];
  if (!transient.includes(failure.kind)) return undefined;
  const pauseMs = Math.max(backoffMs(attempt, pauses, random), failure.retryAfterMs ?? 0);
  return pauseMs > maxPauseMs ? undefined : pauseMs;
}
