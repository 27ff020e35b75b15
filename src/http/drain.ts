import { finished } from 'node:stream';
import type { Clock } from '../time/clock.ts';
import type { HttpServer } from './app.ts';

/** Grace period for callers still sending a request when the server closes. */
const sendingMs = 2_000;

/**
 * Ends a closing server when no request is in work. After close Node.js enforces no request timeout: a connection
 * with half a request, or without any, would keep the server alive as long as the caller likes.
 */
export function endWithWork(app: HttpServer, clock: Clock): void {
  const inWork = new Set<unknown>();
  const closed = new AbortController();
  let ending = false;

  function end(): void {
    if (ending && inWork.size === 0) app.server.closeAllConnections();
  }

  // preHandler runs after the body was read.
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
