import type { Readable } from 'node:stream';
import type { FastifyReply } from 'fastify';

/** Sends a stream of server-sent events; proxies must not buffer the stream. */
export function sendEvents(reply: FastifyReply, stream: Readable): FastifyReply {
  // Fastify and the server's hooks add 11 listeners; Node.js warns about a leak above 10.
  reply.raw.setMaxListeners(20);
  return reply
    .header('cache-control', 'no-store')
    .header('x-accel-buffering', 'no')
    .type('text/event-stream')
    .send(stream);
}
