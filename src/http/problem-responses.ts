import type * as z from 'zod';

/** Returns OpenAPI responses for these statuses: problem details with their own media type. */
export function problemResponses<Schema extends z.ZodType, Status extends number>(
  schema: Schema,
  ...statuses: readonly Status[]
) {
  const response = {
    description: 'Problem details (RFC 9457).',
    content: { 'application/problem+json': { schema } },
  };
  return Object.fromEntries(statuses.map((status) => [status, response])) as Record<
    Status,
    typeof response
  >;
}

/** Error statuses every guarded route may return. */
export const everyRoute = [400, 401, 403, 408, 429, 431, 500, 503] as const;
/** Additional error statuses for routes with a body. */
export const everyBody = [413, 415] as const;
