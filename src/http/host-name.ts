import type { FastifyRequest } from 'fastify';
import type { HttpServer } from './app.ts';
import { isLoopback } from './loopback.ts';
import { HttpProblem } from './problem.ts';

/** Whether a Host header names this machine: localhost, 127.0.0.0/8 or [::1], with any port. */
export function namesLoopback(host: string | undefined): boolean {
  return isLoopback(host?.replace(/:\d+$/, '') ?? '');
}

/** Whether a request comes from this machine and asks for it by name. A web page asks for its own name. */
export function isFromThisMachine({ ip, headers }: FastifyRequest): boolean {
  return isLoopback(ip) && namesLoopback(headers.host);
}

/**
 * Refuses requests from this machine that ask for another name and carry no token: a web page in the browser of a user who
 * forwards the port may have pointed its own name at 127.0.0.1 (DNS rebinding). A token cannot come from such a page, and a
 * service mesh delivers what other Pods send from a loopback address, too.
 */
export function refuseForeignHosts(app: HttpServer): void {
  app.addHook('onRequest', async ({ ip, headers, routeOptions }) => {
    if (!isLoopback(ip) || namesLoopback(headers.host)) return;
    // What needs no token would be served to whoever invents one.
    const isChecked = routeOptions.config.admit !== undefined;
    if (isChecked && headers.authorization !== undefined) return;
    const detail = `the host "${headers.host ?? ''}" is not this machine: ask for localhost, 127.0.0.1 or [::1], or send Authorization: Bearer <token>`;
    throw new HttpProblem(421, 'HostNotLoopback', detail);
  });
}
