import type { About } from '../process/about.ts';
import type { HttpServer } from './app.ts';
import { isFromThisMachine } from './host-name.ts';
import { HttpProblem } from './problem.ts';

/** What a proxy says of whom it speaks for: a caller behind one is not this machine, though the proxy is. */
const proxyHeaders = ['forwarded', 'via', 'x-forwarded-for', 'x-forwarded-host', 'x-real-ip'];

/**
 * /version for everybody; /configz, the settings that hold, for this machine only. That is where `kubectl port-forward`
 * comes from, and the API server has asked by then whether the person may do that. A page in that person's browser may have
 * given its own name the address 127.0.0.1: it is told apart by the name that it asks for.
 */
export function serveAbout(app: HttpServer, { version, settings }: About): void {
  app.get('/version', { schema: { hide: true } }, async () => version);
  app.get('/configz', { schema: { hide: true } }, async (request) => {
    const direct = proxyHeaders.every((header) => request.headers[header] === undefined);
    if (direct && isFromThisMachine(request)) return settings;
    const detail =
      'settings are shown on the machine itself only; use kubectl port-forward, and ask 127.0.0.1';
    throw new HttpProblem(403, 'LoopbackOnly', detail);
  });
}
