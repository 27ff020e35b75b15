import * as z from 'zod';
import { badRequest } from '../objects/status-error.ts';
import type { ListRequest } from '../verbs/list.ts';
import type { WatchRequest } from '../verbs/watch.ts';
import type { ResourceRequest } from './request-info.ts';

const number = z.coerce.number().int().nonnegative();

const queryEdge = z.looseObject({
  labelSelector: z.string().default(''),
  fieldSelector: z.string().default(''),
  limit: number.default(0),
  continue: z.string().default(''),
  resourceVersion: number.default(0),
  resourceVersionMatch: z.string().optional(),
  allowWatchBookmarks: z.enum(['true', 'false', '1', '0']).optional(),
  timeoutSeconds: number.default(0),
});

/** Reads the query of a list. */
export function readList(request: ResourceRequest): ListRequest {
  const query = read(request);
  return {
    ...selectionOf(request, query),
    limit: query.limit || undefined,
    continueToken: query.continue || undefined,
    resourceVersion: query.resourceVersion,
    exactVersion: query.resourceVersionMatch === 'Exact',
  };
}

/** Reads the query of a watch; without a time of its own it lasts `defaultSeconds`. */
export function readWatch(request: ResourceRequest, defaultSeconds: number): WatchRequest {
  const query = read(request);
  return {
    ...selectionOf(request, query),
    resourceVersion: query.resourceVersion,
    bookmarks: ['true', '1'].includes(query.allowWatchBookmarks ?? ''),
    timeoutSeconds: query.timeoutSeconds || defaultSeconds,
  };
}

type Query = z.infer<typeof queryEdge>;

function selectionOf({ type, namespace }: ResourceRequest, query: Query) {
  const { labelSelector, fieldSelector } = query;
  return { type, namespace, labelSelector, fieldSelector };
}

function read({ query }: ResourceRequest): Query {
  const result = queryEdge.safeParse(Object.fromEntries(query));
  if (result.success) return result.data;
  const issue = result.error.issues[0];
  throw badRequest(
    `invalid query parameter ${issue?.path.join('.') ?? ''}: ${issue?.message ?? ''}`,
  );
}
