import * as z from 'zod';
import { rfc3339 } from '../../api/condition.ts';
import {
  base,
  clusters as clustersBody,
  clustersPath,
  continueHeader,
  deleteAnswer,
  deleteBasis,
  deleteReason,
  existingNodeConfig,
  existingNodeConfigs,
  listHeaders,
  nodeConfigsPath,
  problem,
  providerHeaders,
} from '../../api/node-configs-http.ts';
import type { HttpServer } from '../../http/app.ts';
import { everyRoute, problemResponses } from '../../http/problem-responses.ts';
import type { TokenFile } from '../../http/token-file.ts';
import { mapBounded } from '../../process/bounded.ts';
import { admitAny, admitTo, callerOf } from '../access/admit.ts';
import { inCluster } from '../access/in-cluster.ts';
import { reach } from '../clusters/reach.ts';
import type { ClusterRights } from '../clusters/rights-in-cluster.ts';
import { namesTag, pageTag } from '../read/page-tag.ts';
import { readNode, readPage, selected } from '../read/read-nodes.ts';
import { deleteNode } from '../write/delete-node.ts';
import { beginWrites } from '../write/write-limit.ts';
import { serveCheck } from './check-route.ts';
import { serveDryRun } from './dry-run-route.ts';
import { nodeParams } from './node-params.ts';
import { type PostDeps, servePost } from './post-route.ts';

export interface ViolaDeps extends PostDeps {
  readonly tokens: TokenFile;
  /** undefined: rights in clusters are not checked. */
  readonly rights?: ClusterRights | undefined;
  /** Conditions about Viola itself, shown in the cluster list. */
  readonly conditions?: readonly Condition[];
}

type Condition = NonNullable<z.infer<typeof clustersBody>['conditions']>[number];

const errors = problemResponses(problem, ...everyRoute, 404);
const deletion = z
  .object({
    uid: base.shape.uid.optional(),
    generation: z.coerce.number().int().min(1).optional(),
    basis: wordIn(deleteBasis.options)
      .optional()
      .describe(
        'Why the NICs may leave: evidence that they are gone in OpenStack, consent by a user, or named (default): within the budget of removals.',
      ),
    reason: wordIn(deleteReason.options)
      .optional()
      .describe(
        'server-gone: evidence shows that the server is deleted; the deletion does not wait for its Node.',
      ),
    sourceUid: z
      .string()
      .max(64)
      .optional()
      .describe(
        'uid of the OpenstackConfig that delivers the node: 409 StaleBase after a different OpenstackConfig took the node over.',
      ),
  })
  .refine(({ uid, generation }) => (uid === undefined) === (generation === undefined), {
    path: ['generation'],
    error: 'uid and generation are the base together: send both, or neither',
  });

/** Returns a schema of words whose error names value and words. */
function wordIn<const T extends string>(words: readonly T[]) {
  return z.enum(words, {
    error: ({ input }) =>
      `"${String(input).slice(0, 64)}" is unknown: send ${words.join(', ')} or leave it out`,
  });
}

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

/** Registers Viola's routes; admission reads only the request head. */
export function serveViola(app: HttpServer, deps: ViolaDeps): void {
  const { cache, clusters } = deps;
  const may = {
    read: admitTo(deps, 'read'),
    write: admitTo(deps, 'write'),
    delete: admitTo(deps, 'delete'),
    any: admitAny(deps),
  };

  servePost(app, deps, { admit: may.write, readsResults: true });
  serveDryRun(app, deps, { admit: may.write });
  serveCheck(app, deps, { admit: may.write });

  app.get(
    nodeConfigsPath,
    {
      config: { admit: may.read },
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
        response: { 200: existingNodeConfigs, 304: unchanged, ...errors },
      },
    },
    async (request, reply) => {
      const { provider = '' } = callerOf(request);
      const { query } = request;
      const key = `${provider}\n${query.limit}\n${query.continue ?? ''}`;
      // Several callers may share one read, so a disconnect must not abort the read.
      const read = () =>
        inCluster(clusters, provider, (cluster) => readPage(cluster, query, deps.clock));
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

  app.get(
    `${nodeConfigsPath}/:node`,
    {
      config: { admit: may.read },
      schema: {
        operationId: 'getNodeConfig',
        summary: 'Read one node config, without cache',
        headers: providerHeaders,
        params: nodeParams,
        response: { 200: existingNodeConfig, ...errors },
      },
    },
    async (request) => {
      const { provider = '' } = callerOf(request);
      const options = { clock: deps.clock, signal: request.work };
      return inCluster(clusters, provider, (cluster) =>
        readNode(cluster, request.params.node, options),
      );
    },
  );

  app.delete(
    `${nodeConfigsPath}/:node`,
    {
      config: { admit: may.delete },
      schema: {
        operationId: 'deleteNodeConfig',
        summary: 'Delete a node config; its node is cleaned first',
        headers: providerHeaders,
        params: nodeParams,
        querystring: deletion,
        response: { 202: deleteAnswer, ...errors, ...problemResponses(problem, 409) },
      },
    },
    async (request, reply) => {
      const { provider = '' } = callerOf(request);
      const { uid, generation, basis: on, reason: why, sourceUid } = request.query;
      const fence = uid === undefined || generation === undefined ? undefined : { uid, generation };
      const inTime = beginWrites({ ...deps, signal: request.work });
      const gone = await inCluster(clusters, provider, (cluster) =>
        inTime((limited) =>
          deleteNode(cluster, request.params.node, fence, {
            ...deps,
            ...limited,
            basis: on,
            reason: why,
            sourceUid,
          }),
        ),
      ).finally(() => cache.forget(provider));
      return reply.code(202).send(gone);
    },
  );

  app.get(
    clustersPath,
    {
      config: { admit: may.any },
      schema: {
        operationId: 'listClusters',
        summary:
          'List registered business clusters, their reachability and missing rights of Viola',
        response: { 200: clustersBody, ...problemResponses(problem, ...everyRoute) },
      },
    },
    async (request) => {
      const { providers } = callerOf(request);
      const mine = (id: string) => providers.includes('*') || providers.includes(id);
      const options = { clock: deps.clock, signal: request.work, rights: deps.rights };
      const ids = clusters.providerIds.filter(mine);
      const items = await mapBounded(ids, deps.parallel, (id) => reach(clusters, id, options));
      const { conditions } = deps;
      return { items, ...(conditions ? { conditions: [...conditions] } : {}) };
    },
  );
}
