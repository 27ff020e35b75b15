import * as z from 'zod';
import { rfc3339 } from '../../api/condition.ts';
import {
  continueHeader,
  existingNodeConfigs,
  listHeaders,
  nodeConfigsPath,
  problem,
} from '../../api/node-configs-http.ts';
import type { Admit } from '../../http/admission.ts';
import type { HttpServer } from '../../http/app.ts';
import { everyRoute, problemResponses } from '../../http/problem-responses.ts';
import { callerOf } from '../access/admit.ts';
import { inCluster } from '../access/in-cluster.ts';
import { namesTag, pageTag } from '../read/page-tag.ts';
import { readPage, selected } from '../read/read-nodes.ts';
import type { PostDeps } from './post-route.ts';

const unchanged = z
  .undefined()
  .describe('The page is unchanged since the ETag in If-None-Match; no body.');
const fresh = z
  .stringbool()
  .default(false)
  .describe('true: read from the business cluster instead of the cache.');
const instanceId = z.string().min(1).max(64);
const selection = z.object({
  source: z
    .string()
    .max(317)
    .regex(/^[^/]+\/[^/]+$/, 'must be namespace/name')
    .optional()
    .describe(
      'Only nodes from this OpenstackConfig (namespace/name), or with one of the values of instanceId.',
    ),
  instanceId: z
    .union([instanceId, z.array(instanceId).max(200)])
    .optional()
    .describe('Only nodes of these servers, or from source; may be repeated.'),
});

/** Registers the list route for a business cluster's node configs. */
export function serveList(
  app: HttpServer,
  { cache, clusters, clock }: PostDeps,
  { admit }: { readonly admit: Admit },
): void {
  app.get(
    nodeConfigsPath,
    {
      config: { admit },
      schema: {
        operationId: 'listNodeConfigs',
        summary: 'List the node configs of a business cluster',
        headers: listHeaders,
        querystring: z.object({
          limit: z.coerce.number().int().min(1).max(1000).default(500),
          continue: z.string().max(4096).optional(),
          fresh,
          ...selection.shape,
        }),
        response: {
          200: existingNodeConfigs,
          304: unchanged,
          ...problemResponses(problem, ...everyRoute, 404),
        },
      },
    },
    async (request, reply) => {
      const { provider = '' } = callerOf(request);
      const { query } = request;
      const key = `${provider}\n${query.limit}\n${query.continue ?? ''}`;
      // Several callers may share one read, so a disconnect must not abort the read.
      const read = () =>
        inCluster(clusters, provider, (cluster) => readPage(cluster, query, clock));
      const { value, observedAt } = await cache.get(key, read, query.fresh);
      const instanceIds = [query.instanceId ?? []].flat();
      const part = selected(value, { source: query.source, instanceIds });
      const { items, unreadable, ...page } = part;
      const tag = pageTag(provider, part);
      reply.header('etag', tag);
      reply.header(continueHeader, page.continue ?? '');
      if (namesTag(request.headers['if-none-match'] ?? '', tag)) return reply.code(304).send();
      return {
        ...page,
        items: [...items],
        ...(unreadable.length > 0 ? { unreadable: [...unreadable] } : {}),
        observedAt: rfc3339(observedAt),
      };
    },
  );
}
