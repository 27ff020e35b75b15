import * as z from 'zod';
import { KubeError } from '../errors.ts';
import type { KubeObject } from '../object.ts';
import { objectVersionOf, type Resource } from '../resource.ts';

const objectSchema = z.looseObject({ metadata: z.looseObject({ name: z.string().min(1) }) });

export const listSchema = z.object({
  metadata: z.object({
    resourceVersion: z.string().min(1),
    continue: z.string().optional(),
  }),
  // Go servers write an empty list for some kinds as null.
  items: z.array(z.unknown()).nullable(),
});

const bookmarkSchema = z.object({ metadata: z.object({ resourceVersion: z.string().min(1) }) });

export const watchEventSchema = z.discriminatedUnion('type', [
  z.object({ type: z.enum(['ADDED', 'MODIFIED', 'DELETED']), object: z.unknown() }),
  z.object({ type: z.literal('BOOKMARK'), object: bookmarkSchema }),
  z.object({ type: z.literal('ERROR'), object: z.unknown() }),
]);

export const versionSchema = z.object({ gitVersion: z.string() });

const detailsSchema = z.object({
  retryAfterSeconds: z.number().optional(),
  kind: z.string().optional(),
  causes: z
    .array(z.object({ field: z.string().default(''), message: z.string().default('') }))
    .nullish(),
});

/** The API's `Status`, mapped to `KubeError` fields. */
const statusSchema = z
  .object({
    code: z.number().default(0),
    reason: z.string().default(''),
    message: z.string().default(''),
    details: detailsSchema.nullish(),
  })
  .transform(({ details, ...status }) => ({
    ...status,
    resource: details?.kind,
    causes: details?.causes ?? [],
    retryAfterMs: details?.retryAfterSeconds ? details.retryAfterSeconds * 1000 : undefined,
  }));

/** A proxy's answer instead of a Status. */
const proxyAnswerSchema = z.unknown().transform((body) => ({
  code: 0,
  reason: '',
  message: typeof body === 'string' ? body.slice(0, 200) : '',
  resource: undefined,
  causes: [],
  retryAfterMs: undefined,
}));

const refusalSchema = z.union([statusSchema, proxyAnswerSchema]);

/** Checks an object and adds its kind: list items lack a kind. */
export function readObject<T extends KubeObject>(resource: Resource<T>, raw: unknown): T {
  const object = {
    ...parsed(objectSchema, raw, `reading a ${resource.kind}`),
    apiVersion: objectVersionOf(resource),
    kind: resource.kind,
  };
  // Without its own check a resource trusts the API server for all other fields.
  return resource.parse ? resource.parse(object) : (object as unknown as T);
}

/** Checks an answer; a mismatch throws `KubeError` with reason `InvalidAnswer`. */
export function parsed<T>(schema: z.ZodType<T>, raw: unknown, doing: string): T {
  const result = schema.safeParse(raw);
  if (result.success) return result.data;
  throw new KubeError({
    status: 0,
    reason: 'InvalidAnswer',
    message: `${doing}: ${z.prettifyError(result.error)}`,
    cause: result.error,
  });
}

export interface Refusal {
  /** HTTP status; 0 in a stream, where only the body has one. */
  readonly status: number;
  /** The request, for the message. */
  readonly doing: string;
  /** The body: a `Status`, or a proxy's text. */
  readonly body: unknown;
  readonly retryAfterMs?: number | undefined;
}

/** Maximum accepted Retry-After: a change must not wait for a day. */
const maxRetryAfterMs = 300_000;

/** Returns the error for a non-2xx answer, or for an ERROR event in a watch. */
export function refused({ status, doing, body, retryAfterMs }: Refusal): KubeError {
  const answer = refusalSchema.parse(body);
  const code = status || answer.code;
  const reason = answer.reason || `Http${code}`;
  const requestedMs = retryAfterMs ?? answer.retryAfterMs;
  return new KubeError({
    status: code,
    reason,
    message: `${doing}: ${answer.message || 'no message'} (${code} ${reason})`,
    retryAfterMs: requestedMs === undefined ? undefined : Math.min(requestedMs, maxRetryAfterMs),
    resource: answer.resource,
    causes: answer.causes,
  });
}
