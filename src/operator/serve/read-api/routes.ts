import type { FastifyRequest } from 'fastify';
import * as z from 'zod';
import { problem } from '../../../api/node-configs-http.ts';
import {
  clusterViews,
  nodesQuery,
  nodeView,
  nodeViews,
  pageQuery,
  portsQuery,
  portViews,
  readPaths,
} from '../../../api/read-http.ts';
import { admitApiCallers, refuseStale, visibleProviders } from '../../../http/api-callers.ts';
import type { HttpServer } from '../../../http/app.ts';
import { everyRoute, problemResponses } from '../../../http/problem-responses.ts';
import type { TokenFile } from '../../../http/token-file.ts';
import { listClusters } from './clusters.ts';
import { findNode, listNodes, readNode } from './nodes.ts';
import { portQueryOf } from './port-query.ts';
import { findPorts } from './ports.ts';
import type { ReadSources } from './read-sources.ts';
import { visibleConfigs } from './visible-configs.ts';

export interface ServedReads {
  readonly sources: ReadSources;
  /** Tokens for remote callers; undefined: only loopback callers may read. */
  readonly tokens: TokenFile | undefined;
  /** Returns why the answers may be stale; undefined: current. */
  readonly unavailable: () => string | undefined;
}

const nodeParams = z.object({
  providerId: z.string().min(1).max(253),
  nodeName: z.string().min(1).max(253),
});
const nodeQuery = z.strictObject({
  fresh: z
    .stringbool()
    .default(false)
    .describe('Read the node through Viola, instead of the result of the last sync.'),
});

/** Serves `GET /v1/clusters`, `/v1/nodes` and `/v1/ports` from the last syncs, with direct reads on request. */
export function serveReads(app: HttpServer, { sources, tokens, unavailable }: ServedReads): void {
  const { deps, limited, reported, objects, usual } = sources;
  const errors = problemResponses(problem, ...everyRoute);
  const config = { admit: admitApiCallers(tokens, 'read') };

  async function configsFor(request: FastifyRequest) {
    refuseStale(unavailable());
    return objects.fill(visibleConfigs(deps, visibleProviders(request)));
  }

  app.get(
    readPaths.clusters,
    {
      config,
      schema: {
        operationId: 'listBusinessClusters',
        summary: 'Business clusters with their connection and sums of nodes and NICs',
        querystring: z.strictObject(pageQuery.shape),
        response: { 200: clusterViews, ...errors },
      },
    },
    async (request) => {
      const configs = await configsFor(request);
      const { settings } = deps;
      const rows = { configs, usual, reported, settings, providers: visibleProviders(request) };
      return listClusters(rows, request.query, request.work);
    },
  );
  app.get(
    readPaths.nodes,
    {
      config,
      schema: {
        operationId: 'listNodes',
        summary: 'Nodes of OpenstackConfigs with their NICs, ordered by business cluster and name',
        querystring: z.strictObject(nodesQuery.shape),
        response: { 200: nodeViews, ...errors },
      },
    },
    async (request) => listNodes(await configsFor(request), request.query),
  );
  app.get(
    `${readPaths.nodes}/:providerId/:nodeName`,
    {
      config,
      schema: {
        operationId: 'getNode',
        summary: 'One node, as of the last sync or read now',
        params: nodeParams,
        querystring: nodeQuery,
        response: { 200: nodeView, ...errors, ...problemResponses(problem, 404) },
      },
    },
    async (request) => {
      const configs = await configsFor(request);
      const { params, query, work } = request;
      if (!query.fresh) return findNode(configs, params);
      return readNode(configs, params, { deps, limited }, work);
    },
  );
  app.get(
    readPaths.ports,
    {
      config,
      schema: {
        operationId: 'findPorts',
        summary:
          'Ports by id, MAC address, IP address or server (exactly one), each with its decision',
        querystring: portsQuery,
        response: { 200: portViews, ...errors, ...problemResponses(problem, 404) },
      },
    },
    async (request) => {
      const configs = await configsFor(request);
      return findPorts(portQueryOf(request.query), configs, { deps, limited }, request.work);
    },
  );
}
