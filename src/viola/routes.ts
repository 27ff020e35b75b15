import type { FastifyRequest } from 'fastify';
import * as z from 'zod';
import { rfc3339 } from '../api/condition.ts';
import type { Effect } from '../api/effects.ts';
import {
  base,
  clusters as clustersBody,
  clustersPath,
  deleteAnswer,
  heldNode,
  heldNodes,
  nodeConfigsPath,
  postAnswer,
  postedNodes,
  problem,
  providerHeader,
  resultsPreference,
} from '../api/node-configs-http.ts';
import type { HttpServer } from '../http/app.ts';
import { HttpProblem } from '../http/problem.ts';
import type { TokenFile } from '../http/token-file.ts';
import { authorize, identify, type Verb } from '../http/who-may.ts';
import { mapBounded } from '../process/bounded.ts';
import type { Perform } from '../process/effects.ts';
import type { Clock } from '../time/clock.ts';
import type { AnswerCache } from './answer-cache.ts';
import { answerStatus } from './answer-status.ts';
import { toProblem } from './cluster-problem.ts';
import type { Cluster, Clusters } from './clusters.ts';
import { deleteNode } from './delete-node.ts';
import { postNodes } from './post-nodes.ts';
import { reach } from './reach.ts';
import { readNode, readPage } from './read-nodes.ts';
import { refusedPost, refusedPostBody } from './refused-post.ts';

export interface ViolaDeps {
  readonly clusters: Clusters;
  readonly tokens: TokenFile;
  readonly cache: AnswerCache;
  readonly clock: Clock;
  readonly perform: Perform<Effect>;
  readonly acceptUnfenced: boolean;
  readonly parallel: number;
  readonly signal: AbortSignal;
}

const errors = { 400: problem, 401: problem, 403: problem, 404: problem, 503: problem };
const nodeParams = z.object({ node: z.string().min(1).max(253) });
const fresh = z
  .stringbool()
  .default(false)
  .describe('Read through instead of a short-lived cache.');

/** The routes of Viola; who may call is decided before anything is read. */
export function serveViola(app: HttpServer, deps: ViolaDeps): void {
  /** The cluster of the request's provider, once the caller may do this there. */
  async function clusterFor(request: FastifyRequest, verb: Verb): Promise<Cluster> {
    const { [providerHeader]: header, authorization } = request.headers;
    const provider = typeof header === 'string' ? header.trim() : '';
    const grants = await deps.tokens.current();
    identify(grants, authorization);
    if (provider === '') {
      throw new HttpProblem(400, 'ProviderRequired', `send ${providerHeader}: <id of the cluster>`);
    }
    authorize(grants, authorization, { provider, verb });
    const found = await deps.clusters.find(provider);
    if (found.kind === 'found') return found.cluster;
    if (found.kind === 'broken') throw new HttpProblem(503, 'ClusterUnusable', found.message);
    const detail = `no business cluster is registered as "${provider}"; add its Secret`;
    throw new HttpProblem(404, 'UnknownProvider', detail);
  }

  app.post(
    nodeConfigsPath,
    {
      schema: {
        operationId: 'postNodeConfigs',
        summary: 'Create or update the node configs of some nodes',
        body: postedNodes,
        response: {
          200: postAnswer,
          ...errors,
          409: refusedPost,
          422: refusedPost,
          503: z.union([refusedPost, problem]),
        },
      },
    },
    async (request, reply) => {
      const cluster = await clusterFor(request, 'write');
      const answer = await postNodes(cluster, request.body, deps);
      deps.cache.forget(cluster.providerId);
      const preferences = String(request.headers['prefer'] ?? '').split(/[,;]\s*/);
      const status = answerStatus(answer, preferences.includes(resultsPreference));
      if (status === 200) return answer;
      const body = refusedPostBody(answer, { status, requestId: request.id });
      return reply
        .code(status as 409)
        .type('application/problem+json')
        .send(body);
    },
  );

  app.get(
    nodeConfigsPath,
    {
      schema: {
        operationId: 'listNodeConfigs',
        summary: 'What the business cluster holds',
        querystring: z.object({
          limit: z.coerce.number().int().min(1).max(1000).default(500),
          continue: z.string().max(4096).optional(),
          fresh,
        }),
        response: { 200: heldNodes, ...errors },
      },
    },
    async (request) => {
      const cluster = await clusterFor(request, 'read');
      const { query } = request;
      const key = `${cluster.providerId}\n${query.limit}\n${query.continue ?? ''}`;
      const read = () => readPage(cluster, query, deps.signal).catch(toProblem);
      const { value, observedAt } = await deps.cache.get(key, read, query.fresh);
      return { ...value, items: [...value.items], observedAt: rfc3339(observedAt) };
    },
  );

  app.get(
    `${nodeConfigsPath}/:node`,
    {
      schema: {
        operationId: 'getNodeConfig',
        summary: 'One node config, always read through',
        params: nodeParams,
        response: { 200: heldNode, ...errors },
      },
    },
    async (request) => {
      const cluster = await clusterFor(request, 'read');
      return readNode(cluster, request.params.node, deps.signal).catch(toProblem);
    },
  );

  app.delete(
    `${nodeConfigsPath}/:node`,
    {
      schema: {
        operationId: 'deleteNodeConfig',
        summary: 'Remove a node config; the node is cleaned before it goes',
        params: nodeParams,
        querystring: z.union([
          z.object({ uid: base.shape.uid, generation: z.coerce.number().int().min(1) }),
          z.object({ uid: z.undefined().optional(), generation: z.undefined().optional() }),
        ]),
        response: { 202: deleteAnswer, 409: problem, ...errors },
      },
    },
    async (request, reply) => {
      const cluster = await clusterFor(request, 'delete');
      const { uid, generation } = request.query;
      const fence = uid === undefined ? undefined : { uid, generation };
      const gone = await deleteNode(cluster, request.params.node, fence, deps).catch(toProblem);
      deps.cache.forget(cluster.providerId);
      return reply.code(202).send(gone);
    },
  );

  app.get(
    clustersPath,
    {
      schema: {
        operationId: 'listClusters',
        summary: 'Registered business clusters and whether they answer',
        response: { 200: clustersBody, 401: problem },
      },
    },
    async (request) => {
      const caller = identify(await deps.tokens.current(), request.headers.authorization);
      const mine = (id: string) => caller.providers.includes('*') || caller.providers.includes(id);
      const ids = deps.clusters.providerIds.filter(mine);
      const items = await mapBounded(ids, deps.parallel, (id) => reach(deps.clusters, id, deps));
      return { items };
    },
  );
}
