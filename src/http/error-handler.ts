import type { FastifyError, FastifyReply, FastifyRequest } from 'fastify';
import { hasZodFastifySchemaValidationErrors } from 'fastify-type-provider-zod';
import type { Logger } from '../process/log.ts';
import { type ErrorForm, HttpProblem } from './problem.ts';

/** Sends handler errors in the server's form; logs only server errors (5xx). */
export function createErrorHandler(log: Logger, form: ErrorForm) {
  return async (error: FastifyError, request: FastifyRequest, reply: FastifyReply) => {
    const problem = toProblem(error);
    if (problem.status >= 500) log.error({ err: error, requestId: request.id }, 'request failed');
    return sendProblem(reply, problem, request.id, form);
  };
}

/** Sends a problem in the server's form. */
export function sendProblem(
  reply: FastifyReply,
  problem: HttpProblem,
  requestId: string,
  { contentType, headersOf, bodyOf }: ErrorForm,
) {
  if (problem.retryAfterSeconds !== undefined) {
    reply.header('retry-after', String(problem.retryAfterSeconds));
  }
  return reply
    .code(problem.status)
    .headers(headersOf(problem))
    .type(contentType)
    .serializer(JSON.stringify)
    .send(bodyOf(problem, requestId));
}

/** Returns the problem for an error. */
export function toProblem(error: FastifyError): HttpProblem {
  if (error instanceof HttpProblem) return error;
  if (hasZodFastifySchemaValidationErrors(error)) return validationProblem(error);
  const status = error.statusCode ?? 500;
  const known = fastifyProblems[error.code];
  if (known) return new HttpProblem(status, known.code, known.detail, { cause: error });
  if (status < 500) return new HttpProblem(status, 'BadRequest', error.message, { cause: error });
  return new HttpProblem(
    500,
    'Internal',
    'unexpected error; find it in the log by the request id',
    {
      cause: error,
    },
  );
}

function validationProblem(error: FastifyError): HttpProblem {
  const part = error.validationContext ?? 'request';
  const errors = (error.validation ?? []).map(({ instancePath, message }) => ({
    field: instancePath.replace(/^\//, '').replaceAll('/', '.'),
    message: message ?? 'is not valid',
  }));
  const detail = errors.map(({ field, message }) => `${field || part}: ${message}`).join('; ');
  return new HttpProblem(400, 'InvalidRequest', detail, { errors, cause: error });
}

const fastifyProblems: Readonly<
  Record<string, { readonly code: string; readonly detail: string }>
> = {
  FST_ERR_CTP_BODY_TOO_LARGE: {
    code: 'BodyTooLarge',
    detail: 'the body is larger than the server accepts; send fewer nodes at once',
  },
  FST_ERR_CTP_INVALID_MEDIA_TYPE: {
    code: 'UnsupportedMediaType',
    detail: 'send Content-Type: application/json',
  },
  FST_ERR_CTP_EMPTY_JSON_BODY: { code: 'InvalidRequest', detail: 'the body is empty' },
  FST_ERR_BAD_URL: { code: 'InvalidRequest', detail: 'the path is not a valid URL' },
  FST_ERR_MAX_PARAM_LENGTH: { code: 'PathTooLong', detail: 'a segment of the path is too long' },
  FST_ERR_CTP_INVALID_JSON_BODY: { code: 'InvalidRequest', detail: 'the body is not valid JSON' },
};
