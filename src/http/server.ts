import type { AddressInfo } from 'node:net';
import type { FastifyRequest } from 'fastify';
import type { Registry } from 'prom-client';
import type { Health } from '../process/health.ts';
import type { Logger } from '../process/log.ts';
import { describeApi } from './api-docs.ts';
import { type AppOptions, createApp, type HttpServer } from './app.ts';
import { createErrorHandler, sendProblem } from './error-handler.ts';
import { serveHealth } from './health.ts';
import { HttpProblem } from './problem.ts';

/** One answered request, for metrics. */
export interface AnsweredRequest {
  readonly method: string;
  /** Pattern of the route, never the concrete path. */
  readonly route: string;
  readonly status: number;
  readonly seconds: number;
}

export interface HttpServerOptions extends AppOptions {
  readonly title: string;
  readonly log: Logger;
  readonly health: Health;
  readonly registry: Registry;
  /** Requests in work at once; more are answered 429. Default 256. */
  readonly inFlightLimit?: number;
  readonly onAnswer?: (request: AnsweredRequest) => void;
}

/**
 * Makes an HTTP server with what all of ours share: request ids, access log without bodies, limits, problem JSON,
 * /healthz, /readyz, /metrics, /openapi.json, /openapi.yaml and offline docs.
 */
export async function createHttpServer(options: HttpServerOptions): Promise<HttpServer> {
  const app = createApp(options);
  app.setErrorHandler(createErrorHandler(options.log));
  app.setNotFoundHandler(async (request, reply) => {
    const detail = `no route ${request.method} ${request.url.split('?')[0]}; see /docs`;
    return sendProblem(reply, new HttpProblem(404, 'NoSuchRoute', detail), request.id);
  });
  limitInFlight(app, options.inFlightLimit ?? 256);
  logAnswers(app, options);
  await describeApi(app, options.title);
  serveHealth(app, options.health, options.registry);
  return app;
}

export interface Listening {
  readonly url: string;
}

/** Listens until the signal aborts, then ends what is in work and closes. A taken port is one clear sentence. */
export async function listen(
  app: HttpServer,
  { host, port }: { readonly host: string; readonly port: number },
  signal: AbortSignal,
): Promise<Listening> {
  try {
    await app.listen({ host, port });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EADDRINUSE') throw error;
    const text = `${host}:${port} is taken by another process; stop it or choose another address`;
    throw new Error(text, { cause: error });
  }
  signal.addEventListener('abort', () => void app.close(), { once: true });
  const bound = app.server.address() as AddressInfo;
  const name = bound.family === 'IPv6' ? `[${bound.address}]` : bound.address;
  const scheme = 'setSecureContext' in app.server ? 'https' : 'http';
  return { url: `${scheme}://${name}:${bound.port}` };
}

/** Never refused for load: a busy process must not be restarted for being busy. */
const probes: ReadonlySet<string> = new Set(['/healthz', '/readyz', '/metrics']);

type App = Pick<HttpServer, 'addHook'>;

function limitInFlight(app: App, limit: number): void {
  let inFlight = 0;
  const counted = new WeakSet<FastifyRequest>();
  app.addHook('onRequest', async (request) => {
    if (inFlight >= limit && !probes.has(request.url)) {
      const detail = `${limit} requests are in work already`;
      throw new HttpProblem(429, 'TooManyRequests', detail, { retryAfterSeconds: 1 });
    }
    inFlight += 1;
    counted.add(request);
  });
  app.addHook('onResponse', async (request) => {
    if (counted.delete(request)) inFlight -= 1;
  });
  app.addHook('onRequestAbort', async (request) => {
    if (counted.delete(request)) inFlight -= 1;
  });
}

function logAnswers(app: App, { log, onAnswer }: HttpServerOptions): void {
  app.addHook('onRequest', async (request, reply) => {
    reply.header('x-request-id', request.id);
  });
  app.addHook('onResponse', async (request, reply) => {
    const route = request.routeOptions.url ?? 'none';
    const answer = {
      method: request.method,
      route,
      status: reply.statusCode,
      seconds: reply.elapsedTime / 1000,
    };
    onAnswer?.(answer);
    const level = probes.has(route) ? 'debug' : 'info';
    log[level]({ ...answer, requestId: request.id }, 'request answered');
  });
}
