import { randomUUID } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import Fastify from 'fastify';
import {
  serializerCompiler,
  validatorCompiler,
  type ZodTypeProvider,
} from 'fastify-type-provider-zod';
import { answerUnreadable, answerUnroutable } from './early-errors.ts';
import { type ErrorForm, problemDetails } from './problem.ts';

export interface AppOptions {
  readonly tls?: { readonly cert: string; readonly key: string };
  /** Maximum request body in bytes; default 4 MiB. */
  readonly bodyLimit?: number;
  /** Form for error responses; default: problem details. */
  readonly errorForm?: ErrorForm;
}

export interface AppLimits {
  /** Time limit for the work per request (ms). */
  readonly deadlineMs: number;
}

export type HttpServer = ReturnType<typeof createApp>;

/** Creates a Fastify instance with limits, request ids and zod schemas for route validation and docs. */
export function createApp({
  tls,
  bodyLimit = 4 * 1024 * 1024,
  errorForm = problemDetails,
  deadlineMs,
}: AppOptions & AppLimits) {
  const app = Fastify({
    logger: false,
    bodyLimit,
    // Slow senders must not block a connection forever: 30 s for headers and body together.
    requestTimeout: 30_000,
    // Slow readers get the work's deadline plus 30 s: the socket is idle during the work.
    connectionTimeout: deadlineMs + 30_000,
    keepAliveTimeout: 60_000,
    forceCloseConnections: 'idle',
    genReqId: requestId,
    https: tls ?? null,
    // Node names have up to 253 characters; percent-encoding triples the length.
    routerOptions: { maxParamLength: 1024 },
    clientErrorHandler: answerUnreadable(errorForm),
    frameworkErrors: answerUnroutable(errorForm),
    schemaController: {
      compilersFactory: { buildValidator: noCompiler, buildSerializer: noCompiler },
    },
  }).withTypeProvider<ZodTypeProvider>();
  app.setValidatorCompiler(validatorCompiler);
  app.setSerializerCompiler(serializerCompiler);
  return app;
}

/** Replaces Fastify's JSON Schema compilers, loaded by default: our schemas are zod. */
function noCompiler(): never {
  throw new Error('route schemas have no compiler');
}

/** Returns the caller's x-request-id if harmless, else a new id. */
function requestId(request: IncomingMessage): string {
  const given = request.headers['x-request-id'];
  return typeof given === 'string' && /^[\w.-]{1,64}$/.test(given) ? given : randomUUID();
}
