import type { About } from '../process/about.ts';
import type { HttpServer } from './app.ts';
import { isLoopback } from './loopback.ts';
import { HttpProblem } from './problem.ts';

/**
 * /version for everybody; /configz, the settings that hold, for this machine only. That is where `kubectl port-forward`
 * comes from, and the API server has asked by then whether the person may do that.
 */
export function serveAbout(app: HttpServer, { version, settings }: About): void {
  app.get('/version', { schema: { hide: true } }, async () => version);
  app.get('/configz', { schema: { hide: true } }, async ({ ip }) => {
    if (isLoopback(ip)) return settings;
    const detail =
      'settings are shown on the machine itself only; use kubectl port-forward, and ask 127.0.0.1';
    throw new HttpProblem(403, 'LoopbackOnly', detail);
  });
}
