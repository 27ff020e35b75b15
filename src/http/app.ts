import { randomUUID } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import Fastify from 'fastify';
import {
  serializerCompiler,
  validatorCompiler,
  type ZodTypeProvider,
} from 'fastify-type-provider-zod';
import { answerUnreadable, answerUnroutable } from './early-errors.ts';

export interface AppOptions {
  readonly tls?: { readonly cert: string; readonly key: string };
  /** Largest request body in bytes; default 4 MiB. */
  readonly bodyLimit?: number;
}

export interface AppLimits {
  /** How long the work for one request may take. */
  readonly deadlineMs: number;
}

export type HttpServer = ReturnType<typeof createApp>;

/** A Fastify instance with limits and request ids, whose routes are described and checked by zod schemas. */
export function createApp({
  tls,
  bodyLimit = 4 * 1024 * 1024,
  deadlineMs,
}: AppOptions & AppLimits) {
  const app = Fastify({
    logger: false,
    bodyLimit,
    // A slow client must not hold a connection for ever: 30 s for headers and body together.
    requestTimeout: 30_000,
    // Nor one that does not read its answer: no byte moves while the work is done, and for half a minute after.
    connectionTimeout: deadlineMs + 30_000,
    keepAliveTimeout: 60_000,
    forceCloseConnections: 'idle',
    genReqId: requestId,
    https: tls ?? null,
    // A node name has up to 253 characters, percent-encoded three times as many.
    routerOptions: { maxParamLength: 1024 },
    clientErrorHandler: answerUnreadable,
    frameworkErrors: answerUnroutable,
    schemaController: { compilersFactory: { buildValidator: none, buildSerializer: none } },
  }).withTypeProvider<ZodTypeProvider>();
  app.setValidatorCompiler(validatorCompiler);
  app.setSerializerCompiler(serializerCompiler);
  return app;
}

/** Instead of the compilers of JSON Schema, which Fastify loads when it is not told of others: our schemas are zod. */
function none(): never {
  throw new Error('no compiler is set for the schemas of routes');
}

/** Takes the caller's x-request-id when it is harmless, else makes one. */
function requestId(request: IncomingMessage): string {
  const given = request.headers['x-request-id'];
  return typeof given === 'string' && /^[\w.-]{1,64}$/.test(given) ? given : randomUUID();
}
