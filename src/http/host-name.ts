import type { FastifyRequest } from 'fastify';
import type { HttpServer } from './app.ts';
import { isLoopback } from './loopback.ts';
import { HttpProblem } from './problem.ts';

/** Returns true if a Host header names this machine: localhost, 127.0.0.0/8 or [::1], with any port. */
function namesLoopback(host: string | undefined): boolean {
  return isLoopback(host?.replace(/:\d+$/, '') ?? '');
}

/** Proxy headers: a caller behind a proxy is remote, even if the proxy is local. Every Envoy sets x-forwarded-proto. */
const proxyHeaders = [
  'forwarded',
  'via',
  'x-forwarded-for',
  'x-forwarded-host',
  'x-forwarded-proto',
  'x-real-ip',
];
/** Addresses of a port-forward. A service mesh delivers requests from other Pods from 127.0.0.6. */
const ownAddresses: ReadonlySet<string> = new Set(['127.0.0.1', '::ffff:127.0.0.1', '::1']);

/**
 * Returns true if a request comes from this machine without a proxy, and its Host header names this machine. Web pages
 * send their own name.
 */
export function isFromThisMachine({
  ip,
  headers,
}: Pick<FastifyRequest, 'ip' | 'headers'>): boolean {
  const isDirect = proxyHeaders.every((header) => headers[header] === undefined);
  return isDirect && ownAddresses.has(ip) && namesLoopback(headers.host);
}

/**
 * Refuses requests from loopback with a foreign Host header and no token. A web page on a machine with an open
 * port-forward may resolve its own name to 127.0.0.1 (DNS rebinding). Such pages have no token. Tokens are accepted
 * because a service mesh delivers requests from other Pods via loopback, too.
 */
export function refuseForeignHosts(app: HttpServer): void {
  app.addHook('onRequest', async ({ ip, headers, routeOptions }) => {
    if (!isLoopback(ip) || namesLoopback(headers.host)) return;
    // On unchecked routes an invented token must not bypass the Host check.
    const isChecked = routeOptions.config.admit !== undefined;
    if (isChecked && headers.authorization !== undefined) return;
    const detail = `the host "${headers.host ?? ''}" is not a loopback name: request localhost, 127.0.0.1 or [::1], or send Authorization: Bearer <token>`;
    throw new HttpProblem(421, 'HostNotLoopback', detail);
  });
}
