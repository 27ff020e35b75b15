import { finished } from 'node:stream';
import type { FastifyReply, FastifyRequest, RouteOptions } from 'fastify';
import type { Clock } from '../time/clock.ts';
import type { HttpServer } from './app.ts';
import { Exchange } from './exchange.ts';
import { HttpProblem } from './problem.ts';
import { Slots } from './slots.ts';

/** A request's sender. Requests from one caller to one provider share a limit and never block other requests. */
export interface Caller {
  readonly name: string;
  /** Providers visible to the caller; "*" means all. */
  readonly providers: readonly string[];
  /** The request's provider, if named. */
  readonly provider?: string;
}

/** Admits a request by its headers alone; throws the problem to send. */
export type Admit = (request: FastifyRequest) => Promise<Caller>;

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Absent only on public routes: health and docs. */
    readonly admit?: Admit;
    /** True: the response is a long stream. The request holds no slot and has no deadline; the route limits its streams. */
    readonly isStream?: boolean;
  }
  interface FastifyRequest {
    /** null on public routes. */
    caller: Caller | null;
    exchange: Exchange | null;
    /** Aborts when the caller has disconnected or the deadline has passed. */
    readonly work: AbortSignal;
  }
}

/** Exempt from load limits: a kubelet must not restart a process for being busy. */
export const probes: ReadonlySet<string> = new Set(['/healthz', '/readyz', '/metrics']);

export interface AdmissionOptions {
  readonly clock: Clock;
  /** Concurrent requests per caller and provider. */
  readonly limit: number;
  /** Time limit for the work per request (ms). */
  readonly deadlineMs: number;
  /** Text in 404 responses: where routes are listed. */
  readonly routesAt: string;
}

/**
 * Decides on each request before reading its body or occupying a slot: unauthenticated callers cannot use up slots. A
 * slot stays occupied until the response is sent and the work has ended. Work for a disconnected caller still counts.
 */
export function admitRequests(app: HttpServer, options: AdmissionOptions): void {
  const slots = new Slots(options.limit);
  app.decorateRequest('caller', null);
  app.decorateRequest('exchange', null);
  app.decorateRequest('work', {
    getter(this: FastifyRequest) {
      if (!this.exchange) throw new Error(`${this.url} was answered before admission`);
      return this.exchange.signal;
    },
  });

  async function admit(request: FastifyRequest, reply: FastifyReply): Promise<void> {
    const exchange = new Exchange(options);
    request.exchange = exchange;
    finished(reply.raw, () => exchange.close());
    if (probes.has(request.routeOptions.url ?? '')) return;
    if (request.is404) throw noSuchRoute(request, options.routesAt);
    request.caller = (await request.routeOptions.config.admit?.(request)) ?? null;
    if (!request.routeOptions.config.isStream) exchange.hold(slots.take(keyOf(request)));
  }

  app.addHook('onRequest', admit);
  app.addHook('onRoute', (route) => {
    if (route.url.startsWith('/v1/') && !route.config?.admit) {
      throw new Error(`${String(route.method)} ${route.url} does not declare who may call it`);
    }
    if (route.config?.admit && !route.config.isStream) route.handler = limited(route.handler);
  });
}

export function noSuchRoute({ method, url }: FastifyRequest, routesAt: string): HttpProblem {
  const detail = `no route ${method} ${url.split('?')[0]}; ${routesAt}`;
  return new HttpProblem(404, 'NoSuchRoute', detail);
}

/** Callers without token are distinguished by IP address. */
function keyOf({ caller, ip }: FastifyRequest): string {
  return JSON.stringify(caller ? [caller.name, caller.provider ?? ''] : [ip]);
}

type Handler = RouteOptions['handler'];

function limited(handler: Handler): Handler {
  const whileConnected: Handler = async function work(request, reply) {
    return request.exchange?.carryOut(async () => handler.call(this, request, reply));
  };
  return whileConnected;
}
