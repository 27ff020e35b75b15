import { finished } from 'node:stream';
import type { Clock } from '../time/clock.ts';
import type { HttpServer } from './app.ts';

/** How long whoever is sending a request may go on when the server closes. */
const sendingMs = 2_000;

/**
 * Ends a server that closes as soon as nothing is in work any more. From then on Node.js limits no request in time, so a
 * connection on which nothing, or half a request, was ever sent would keep the server for as long as its caller likes.
 */
export function endWithWork(app: HttpServer, clock: Clock): void {
  const inWork = new Set<unknown>();
  const closed = new AbortController();
  let ending = false;

  function end(): void {
    if (ending && inWork.size === 0) app.server.closeAllConnections();
  }

  // Its body was read.
  app.addHook('preHandler', async ({ raw }, reply) => {
    inWork.add(raw);
    finished(reply.raw, () => {
      inWork.delete(raw);
      end();
    });
  });
  app.addHook('preClose', async () => {
    clock.sleep(sendingMs, closed.signal).then(
      () => {
        ending = true;
        end();
      },
      () => undefined, // closed before
    );
  });
  app.addHook('onClose', async () => closed.abort());
}
