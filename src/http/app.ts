import { randomUUID } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import Fastify from 'fastify';
import {
  serializerCompiler,
  validatorCompiler,
  type ZodTypeProvider,
} from 'fastify-type-provider-zod';

export interface AppOptions {
  readonly tls?: { readonly cert: string; readonly key: string };
  /** Largest request body in bytes; default 4 MiB. */
  readonly bodyLimit?: number;
}

export type HttpServer = ReturnType<typeof createApp>;

/** A Fastify instance with limits and request ids, whose routes are described and checked by zod schemas. */
export function createApp({ tls, bodyLimit = 4 * 1024 * 1024 }: AppOptions) {
  const app = Fastify({
    logger: false,
    bodyLimit,
    // A slow client must not hold a connection for ever: 30 s for headers and body together.
    requestTimeout: 30_000,
    keepAliveTimeout: 60_000,
    forceCloseConnections: 'idle',
    genReqId: requestId,
    https: tls ?? null,
  }).withTypeProvider<ZodTypeProvider>();
  app.setValidatorCompiler(validatorCompiler);
  app.setSerializerCompiler(serializerCompiler);
  return app;
}

/** Takes the caller's x-request-id when it is harmless, else makes one. */
function requestId(request: IncomingMessage): string {
  const given = request.headers['x-request-id'];
  return typeof given === 'string' && /^[\w.-]{1,64}$/.test(given) ? given : randomUUID();
}
