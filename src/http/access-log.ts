import { finished } from 'node:stream';
import type { Logger } from '../process/log.ts';
import type { Clock } from '../time/clock.ts';
import { probes } from './admission.ts';
import type { HttpServer } from './app.ts';

/** A finished request, for metrics. */
export interface AnsweredRequest {
  readonly method: string;
  /** Route pattern, never the concrete path. */
  readonly route: string;
  /** 499 if the caller disconnected before the response was sent. */
  readonly status: number;
  readonly seconds: number;
}

export interface AccessLogOptions {
  readonly clock: Clock;
  readonly log: Logger;
  readonly onAnswer?: (request: AnsweredRequest) => void;
}

/** Logs and measures each request with caller, route and provider; never logs bodies, queries or tokens. */
export function logAnswers(app: HttpServer, { clock, log, onAnswer }: AccessLogOptions): void {
  app.addHook('onRequest', async (request, reply) => {
    const begun = clock.monotonicMs();
    reply.header('x-request-id', request.id);
    finished(reply.raw, (left) => {
      const route = request.routeOptions.url ?? 'none';
      const answer = {
        method: request.method,
        route,
        status: left ? 499 : reply.statusCode,
        seconds: (clock.monotonicMs() - begun) / 1000,
      };
      onAnswer?.(answer);
      const { name: caller, provider } = request.caller ?? {};
      const level = probes.has(route) ? 'debug' : 'info';
      log[level]({ ...answer, caller, provider, requestId: request.id }, 'request answered');
    });
  });
}
