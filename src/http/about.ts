import type { About } from '../process/about.ts';
import type { HttpServer } from './app.ts';
import { isFromThisMachine } from './host-name.ts';
import { HttpProblem } from './problem.ts';

/**
 * Serves /version to all callers, and /configz (effective settings) to this machine only. `kubectl port-forward`
 * connects from this machine, and the API server has authorized the user before. A web page in the user's browser may
 * resolve its own name to 127.0.0.1 (DNS rebinding): such requests carry a foreign Host header.
 */
export function serveAbout(app: HttpServer, { version, settings }: About): void {
  app.get('/version', { schema: { hide: true } }, async () => version);
  app.get('/configz', { schema: { hide: true } }, async (request) => {
    if (isFromThisMachine(request)) return settings;
    const detail =
      'settings are readable on loopback only; use kubectl port-forward, and request 127.0.0.1';
    throw new HttpProblem(403, 'LoopbackOnly', detail);
  });
}
