import type { FastifyReply, FastifyRequest } from 'fastify';
import { writeHeader } from '../../api/dashboard-names.ts';
import type { PageAccess } from './page-access.ts';
import { PageProblem } from './page-problem.ts';
import { securityHeaders } from './security-headers.ts';

declare module 'fastify' {
  interface FastifyContextConfig {
    /** True: the route answers without login. Such a response holds no cluster data. */
    readonly isPublic?: boolean;
  }
}

/**
 * Configuration of routes without login. They hold no slot: a different user of this machine could otherwise occupy all
 * slots by slow requests.
 */
export const publicRoute = { isPublic: true, isStream: true } as const;

/**
 * Decides on every request by its headers, before routing errors, body and handler. Handlers get the user's rights only
 * from the guard, and the guard has none for a refused request.
 */
export class Guard<Rights> {
  readonly #access: PageAccess<Rights>;
  readonly #admitted = new WeakMap<FastifyRequest, Rights>();

  constructor(access: PageAccess<Rights>) {
    this.#access = access;
  }

  /** Throws the problem to send, 421, 403 or 401. */
  check(request: FastifyRequest, reply: FastifyReply): void {
    reply.headers(securityHeaders);
    const host = request.headers.host ?? '';
    if (!this.#access.isOwnHost(host)) throw foreignHost(host);
    refuseForeignOrigin(request, host);
    if (!isRead(request)) refuseForeignWrite(request);
    if (request.routeOptions.config.isPublic) return;
    refuseForeignRead(request);
    const rights = this.#access.rightsOf(request);
    if (rights === undefined) throw loginRequired(this.#access.loginStep);
    this.#admitted.set(request, rights);
  }

  /** Returns the rights of an admitted request's user. */
  rightsOf(request: FastifyRequest): Rights {
    const rights = this.#admitted.get(request);
    if (rights === undefined) throw new Error(`${request.url} was not admitted`);
    return rights;
  }

  /** Returns whether the user is still logged in; for streams. */
  isAdmitted(request: FastifyRequest): boolean {
    return this.#access.rightsOf(request) !== undefined;
  }
}

function isRead({ method }: FastifyRequest): boolean {
  return method === 'GET' || method === 'HEAD';
}

function refuseForeignOrigin({ headers, protocol }: FastifyRequest, host: string): void {
  const { origin } = headers;
  const own = `${protocol}://${host}`;
  if (origin === undefined || origin.toLowerCase() === own.toLowerCase()) return;
  throw foreignPage(`the origin "${origin}" is not ${own}`);
}

/** Browsers before 2023 send no Sec-Fetch-Site; all browsers send Origin with a POST. */
function refuseForeignWrite({ headers }: FastifyRequest): void {
  const { origin } = headers;
  const site = headers['sec-fetch-site'] ?? (origin === undefined ? 'unknown' : 'same-origin');
  if (site !== 'same-origin') throw foreignPage(`a write from site "${site}"`);
  if (headers[writeHeader] !== '1') throw foreignPage(`a write without ${writeHeader}: 1`);
}

/** `none`: the user typed the address. Pages on all ports of this machine send the cookie, too (same-site). */
function refuseForeignRead({ headers }: FastifyRequest): void {
  const site = headers['sec-fetch-site'] ?? 'none';
  if (site !== 'same-origin' && site !== 'none') {
    throw foreignPage(`a read from site "${site}"`);
  }
}

function foreignHost(host: string): PageProblem {
  return new PageProblem(421, {
    reason: 'ForeignHost',
    message: `the host "${host}" is not a name of this page`,
    nextStep: 'open the page by the address that `multinic dashboard` prints',
  });
}

function foreignPage(what: string): PageProblem {
  return new PageProblem(403, {
    reason: 'ForeignPage',
    message: `refused: ${what}`,
    nextStep: 'use the dashboard itself: requests of foreign pages are refused',
  });
}

function loginRequired(nextStep: string): PageProblem {
  return new PageProblem(401, {
    reason: 'LoginRequired',
    message: 'you are not logged in',
    nextStep,
  });
}
