import type * as z from 'zod';

/** Answers of these statuses as an OpenAPI document tells them: problem details with their own media type. */
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

/** What any guarded route may answer, whatever it does. */
export const everyRoute = [400, 401, 403, 408, 429, 431, 500, 503] as const;
/** What a route that takes a body may answer besides. */
export const everyBody = [413, 415] as const;
