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

/** One HTTP request that was sent, for metrics. */
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
  /** Defaults to the caller's. */
  readonly timeoutMs?: number;
  /** Defaults to the transport's. */
  readonly bodyLimitBytes?: number;
  /** A 429 or 5xx that is an answer all the same. */
  readonly isAnswer?: (answer: HttpAnswer) => boolean;
  /** Sent again when that may help; otherwise that is left to whoever calls. */
  readonly repeats?: boolean;
  /** Throws the RequestError that this answer means; a failure like any other for repeats and circuit breaker. */
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
  /** What an answer of this service that is no success becomes. */
  readonly failureOf: (call: Call, answer: HttpAnswer, now: Date) => RequestError;
  readonly onRequest?: ((sample: RequestSample) => void) | undefined;
  /** See Breaker. */
  readonly longestWindowMs?: number;
  readonly onRecovered?: (() => void) | undefined;
}

/** Calls services that fail together, such as those of one cloud: repeats what passes by itself, and leaves a service that is down in peace. */
export interface Caller {
  /** The answer, unless it is a 429 or 5xx: those throw, as everything that is no answer does. */
  call(call: Call, signal: AbortSignal): Promise<HttpAnswer>;
  /** Requests sent so far. */
  readonly calls: number;
}

const attempts = 3;
const pauses = { baseMs: 200, maxMs: 2_000 };
// Longer waits belong to the work queue, which can do something else meanwhile.
const longestPauseMs = 3_000;
// A request that timed out is repeated once; a third wait would hold a worker for half a minute.
const repeatsStartWithin = 1.5;

/** Makes a Caller. What it sends is repeated, so it must be harmless to send it twice (reads and logins are). */
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

  async function repeating(
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
        if (pauseMs === undefined || spentMs > repeatsStartWithin * request.timeoutMs) throw error;
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
          : repeating(call, request, signal),
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

/** Milliseconds to wait before the next try, or undefined when another try makes no sense now. */
function pauseBefore(failure: RequestError, attempt: number, random: Random): number | undefined {
  const passes: readonly FailureKind[] = ['timeout', 'unreachable', 'serverError', 'rateLimited'];
  if (!passes.includes(failure.kind)) return undefined;
  const pauseMs = Math.max(backoffMs(attempt, pauses, random), failure.retryAfterMs ?? 0);
  return pauseMs > longestPauseMs ? undefined : pauseMs;
}
