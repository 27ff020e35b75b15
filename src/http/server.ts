import type { AddressInfo } from 'node:net';
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

export interface GuardedOptions extends AppOptions, AccessLogOptions {
  /** Requests in work at once of one caller to one provider; more are answered 429. Default 32. */
  readonly inFlightLimit?: number;
  /** How long the work for one request may take. Default 60 s. */
  readonly deadlineMs?: number;
  /** Refuse loopback callers that name another host and carry no token (DNS rebinding). Default false. */
  readonly guardsHost?: boolean;
  /** Where to look for routes, for whoever asks for one that is not there. */
  readonly routesAt: string;
}

export interface HttpServerOptions extends Omit<GuardedOptions, 'routesAt'> {
  readonly title: string;
  readonly health: Health;
  readonly registry: Registry;
  readonly about: About;
}

/**
 * Makes an HTTP server with what all of ours share: request ids, access log without bodies, limits, problem JSON,
 * /healthz, /readyz, /metrics, /version, /configz, /openapi.json, /openapi.yaml and offline docs.
 */
export async function createHttpServer(options: HttpServerOptions): Promise<HttpServer> {
  const app = createGuardedServer({ ...options, routesAt: 'see /docs' });
  describeApi(app, options.title);
  serveHealth(app, options.health, options.registry);
  serveAbout(app, options.about);
  return app;
}

/** The same without any route: for a listener that serves nothing but what it is there for. */
export function createGuardedServer(options: GuardedOptions): HttpServer {
  const { clock, inFlightLimit: limit = 32, deadlineMs = 60_000, routesAt } = options;
  const app = createApp({ ...options, deadlineMs });
  app.setErrorHandler(createErrorHandler(options.log));
  app.setNotFoundHandler(async (request, reply) =>
    sendProblem(reply, noSuchRoute(request, routesAt), request.id),
  );
  logAnswers(app, options);
  if (options.guardsHost) refuseForeignHosts(app);
  admitRequests(app, { clock, limit, deadlineMs, routesAt });
  endWithWork(app, clock);
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
