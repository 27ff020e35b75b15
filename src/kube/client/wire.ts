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
  // A Go server writes an empty list of some kinds as null.
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
  causes: z
    .array(z.object({ field: z.string().default(''), message: z.string().default('') }))
    .nullish(),
});

/** The API's `Status`, in the words of `KubeError`. */
const statusSchema = z
  .object({
    code: z.number().default(0),
    reason: z.string().default(''),
    message: z.string().default(''),
    details: detailsSchema.nullish(),
  })
  .transform(({ details, ...status }) => ({
    ...status,
    causes: details?.causes ?? [],
    retryAfterMs: details?.retryAfterSeconds ? details.retryAfterSeconds * 1000 : undefined,
  }));

/** What a proxy in between says instead. */
const proseSchema = z.unknown().transform((body) => ({
  code: 0,
  reason: '',
  message: typeof body === 'string' ? body.slice(0, 200) : '',
  causes: [],
  retryAfterMs: undefined,
}));

const refusalSchema = z.union([statusSchema, proseSchema]);

/** Checks one object; items of a list come without the kind that the list has, so it is filled in. */
export function readObject<T extends KubeObject>(resource: Resource<T>, raw: unknown): T {
  const object = {
    ...parsed(objectSchema, raw, `reading a ${resource.kind}`),
    apiVersion: objectVersionOf(resource),
    kind: resource.kind,
  };
  // Without a check of its own a resource takes the API server's word for the rest.
  return resource.parse ? resource.parse(object) : (object as unknown as T);
}

/** Checks an answer; one of another shape is a `KubeError` with the reason `InvalidAnswer`. */
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
  /** What was asked, for the message. */
  readonly doing: string;
  /** The body: a `Status`, or whatever a proxy in between says. */
  readonly body: unknown;
  readonly retryAfterMs?: number | undefined;
}

/** Whoever asks for more patience than this has not looked at what he asks for; a change must not wait for a day. */
const longestRetryAfterMs = 300_000;

/** The error for an answer that is not 2xx, or for an ERROR event of a watch. */
export function refused({ status, doing, body, retryAfterMs }: Refusal): KubeError {
  const said = refusalSchema.parse(body);
  const code = status || said.code;
  const reason = said.reason || `Http${code}`;
  const askedMs = retryAfterMs ?? said.retryAfterMs;
  return new KubeError({
    status: code,
    reason,
    message: `${doing}: ${said.message || 'no message'} (${code} ${reason})`,
    retryAfterMs: askedMs === undefined ? undefined : Math.min(askedMs, longestRetryAfterMs),
    causes: said.causes,
  });
}
