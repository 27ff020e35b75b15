import type { AddressInfo } from 'node:net';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Registry } from 'prom-client';
import type { About } from '../process/about.ts';
import type { Health } from '../process/health.ts';
import { serveAbout } from './about.ts';
import { type AccessLogOptions, logAnswers } from './access-log.ts';
import { admitRequests, noSuchRoute } from './admission.ts';
import { describeApi } from './api-docs.ts';
import { type AppOptions, createApp, type HttpServer } from './app.ts';
import { endWithWork } from './drain.ts';
import { createErrorHandler, sendProblem } from './error-handler.ts';
import { serveHealth } from './health.ts';
import { refuseForeignHosts } from './host-name.ts';
import { problemDetails } from './problem.ts';

export interface GuardedOptions extends AppOptions, AccessLogOptions {
  /** Concurrent requests per caller and provider; more get 429. Default 32. */
  readonly inFlightLimit?: number;
  /** Time limit for the work per request (ms). Default 60 s. */
  readonly deadlineMs?: number;
  /** Refuse loopback callers with a foreign Host header and no token (DNS rebinding). Default false. */
  readonly guardsHost?: boolean;
  /** Decides on each request first, also without a route; throws the problem to send. */
  readonly guard?: (request: FastifyRequest, reply: FastifyReply) => void;
  /** Text in 404 responses: where routes are listed. */
  readonly routesAt: string;
}

export interface HttpServerOptions extends Omit<GuardedOptions, 'routesAt'> {
  readonly title: string;
  readonly health: Health;
  readonly registry: Registry;
  readonly about: About;
}

/**
 * Creates an HTTP server with all common features: request ids, access log without bodies, limits, problem JSON,
 * /healthz, /readyz, /metrics, /version, /configz, /openapi.json, /openapi.yaml and offline docs.
 */
export async function createHttpServer(options: HttpServerOptions): Promise<HttpServer> {
  const app = createGuardedServer({ ...options, routesAt: 'see /docs' });
  describeApi(app, options.title);
  serveHealth(app, options.health, options.registry);
  serveAbout(app, options.about);
  return app;
}

/** Creates the same server without any common route, for listeners with a single purpose. */
export function createGuardedServer(options: GuardedOptions): HttpServer {
  const { clock, guard, inFlightLimit: limit = 32, deadlineMs = 60_000, routesAt } = options;
  const { errorForm = problemDetails } = options;
  const app = createApp({ ...options, deadlineMs });
  app.setErrorHandler(createErrorHandler(options.log, errorForm));
  app.setNotFoundHandler(async (request, reply) =>
    sendProblem(reply, noSuchRoute(request, routesAt), request.id, errorForm),
  );
  logAnswers(app, options);
  if (guard) app.addHook('onRequest', async (request, reply) => guard(request, reply));
  if (options.guardsHost) refuseForeignHosts(app);
  admitRequests(app, { clock, limit, deadlineMs, routesAt });
  endWithWork(app, clock);
  return app;
}

export interface Listening {
  readonly url: string;
}

/**
 * Listens until the signal aborts, then finishes current requests and closes. A port in use throws one clear
 * sentence.
 */
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
