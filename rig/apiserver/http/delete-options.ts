import * as z from 'zod';
import { badRequest, invalid } from '../objects/status-error.ts';
import type { DeleteOptions } from '../verbs/delete.ts';
import { parseBody } from './body.ts';

const policies = ['Foreground', 'Background', 'Orphan'] as const;
const propagation = z.enum(policies).optional();
const seconds = z.coerce.number().int().nonnegative().optional();

const bodyEdge = z.object({
  gracePeriodSeconds: seconds,
  propagationPolicy: propagation,
  preconditions: z
    .object({ uid: z.string().optional(), resourceVersion: z.string().optional() })
    .default({}),
  dryRun: z.array(z.string()).default([]),
});

const queryEdge = z.object({ gracePeriodSeconds: seconds, propagationPolicy: propagation });

/** Reads DeleteOptions from body and query; an empty body has none. */
export function deleteOptions(body: string, query: URLSearchParams): DeleteOptions {
  const asked = read(queryEdge, Object.fromEntries(query));
  const { preconditions, dryRun, ...options } = read(
    bodyEdge,
    body.trim() === '' ? {} : parseBody(body),
  );
  return {
    ...asked,
    ...options,
    ...preconditions,
    dryRun: query.get('dryRun') === 'All' || dryRun.includes('All'),
  };
}

function read<T>(edge: z.ZodType<T>, value: unknown): T {
  const result = edge.safeParse(value);
  if (result.success) return result.data;
  const field = result.error.issues[0]?.path.join('.') ?? '';
  const message = `Unsupported value: supported values: ${policies.map((one) => `"${one}"`).join(', ')}`;
  if (field !== 'propagationPolicy') throw badRequest(`invalid delete options: ${field}`);
  const subject = { group: 'meta.k8s.io', plural: 'deleteoptions', kind: 'DeleteOptions' };
  throw invalid(subject, '', [{ reason: 'FieldValueNotSupported', message, field }]);
}
