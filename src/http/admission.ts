import { finished } from 'node:stream';
import type { FastifyReply, FastifyRequest, RouteOptions } from 'fastify';
import type { Clock } from '../time/clock.ts';
import type { HttpServer } from './app.ts';
import { Exchange } from './exchange.ts';
import { HttpProblem } from './problem.ts';
import { Slots } from './slots.ts';

/** Who sent a request. What one caller asks of one provider shares a limit, and holds up nothing else. */
export interface Caller {
  readonly name: string;
  /** Providers that the caller may see; "*" is all. */
  readonly providers: readonly string[];
  /** Provider that the request is about, if it names one. */
  readonly provider?: string;
}

/** Decides by the head of a request alone whether it may go on; throws the problem that it is answered with. */
export type Admit = (request: FastifyRequest) => Promise<Caller>;

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Absent only on routes that anybody may call: health and docs. */
    readonly admit?: Admit;
  }
  interface FastifyRequest {
    /** Null on a route that anybody may call. */
    caller: Caller | null;
    exchange: Exchange | null;
    /** Aborts when the caller has left or its time is over. */
    readonly work: AbortSignal;
  }
}

/** Never refused for load: a busy process must not be restarted for being busy. */
export const probes: ReadonlySet<string> = new Set(['/healthz', '/readyz', '/metrics']);

export interface AdmissionOptions {
  readonly clock: Clock;
  /** Requests in work at once of one caller to one provider. */
  readonly limit: number;
  /** How long the work for one request may take. */
  readonly deadlineMs: number;
  /** Where to look for routes, for whoever asks for one that is not there. */
  readonly routesAt: string;
}

/**
 * Decides on each request before its body is read and before it counts: a stranger takes nothing from anybody. A slot is
 * held until the answer is sent and the work has ended, whichever is later; so work whose caller left still counts.
 */
export function admitRequests(app: HttpServer, options: AdmissionOptions): void {
  const slots = new Slots(options.limit);
  app.decorateRequest('caller', null);
  app.decorateRequest('exchange', null);
  app.decorateRequest('work', {
    getter(this: FastifyRequest) {
      if (!this.exchange) throw new Error(`${this.url} is answered without admission`);
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
    exchange.hold(slots.take(keyOf(request)));
  }

  app.addHook('onRequest', admit);
  app.addHook('onRoute', (route) => {
    if (route.url.startsWith('/v1/') && !route.config?.admit) {
      throw new Error(`${String(route.method)} ${route.url} does not say who may call it`);
    }
    if (route.config?.admit) route.handler = limited(route.handler);
  });
}

export function noSuchRoute({ method, url }: FastifyRequest, routesAt: string): HttpProblem {
  const detail = `no route ${method} ${url.split('?')[0]}; ${routesAt}`;
  return new HttpProblem(404, 'NoSuchRoute', detail);
}

/** Those who need no token are told apart by their address. */
function keyOf({ caller, ip }: FastifyRequest): string {
  return JSON.stringify(caller ? [caller.name, caller.provider ?? ''] : [ip]);
}

type Handler = RouteOptions['handler'];

function limited(handler: Handler): Handler {
  const whileWanted: Handler = async function work(request, reply) {
    return request.exchange?.carryOut(async () => handler.call(this, request, reply));
  };
  return whileWanted;
}
