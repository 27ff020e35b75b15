import type { FastifyContextConfig, FastifyRequest } from 'fastify';
import * as z from 'zod';
import {
  interfacesPath,
  inventoryPath,
  inventoryProviders,
  inventoryQuery,
  inventoryRecords,
  observedRecords,
} from '../api/inventory-http.ts';
import { problem } from '../api/node-configs-http.ts';
import { admitApiCallers } from '../http/api-callers.ts';
import type { HttpServer } from '../http/app.ts';
import { HttpProblem } from '../http/problem.ts';
import { everyRoute, problemResponses } from '../http/problem-responses.ts';
import type { TokenFile } from '../http/token-file.ts';
import type { Store } from '../store/store.ts';
import { continueHeader } from './continue.ts';
import { serveHistory } from './history.ts';
import { keyOf, tokenOf } from './page-token.ts';
import { page, RecordAnswers, recordsQuery } from './record-answers.ts';
import type { Decorate } from './record-list.ts';

export interface InventoryDeps {
  readonly store: Pick<Store, 'list' | 'notesOf' | 'providers' | 'changes' | 'oldestChange'>;
  /** Tokens for remote callers; undefined: only loopback callers may read. */
  readonly tokens: TokenFile | undefined;
  /** Returns why the records may be stale; undefined: current. */
  readonly unavailable: () => string | undefined;
}

const errors = problemResponses(problem, ...everyRoute);

/**
 * Serves the latest records per provider and node, with the routes from both legacy generations: `GET
 * /v1/inventory/node-configs` and `…/{nodeName}`; `GET /v1/interfaces/providers`, `…/node-configs` and
 * `…/node-configs/by-instance/{instanceId}`.
 */
export function serveInventory(app: HttpServer, deps: InventoryDeps): void {
  const { store, tokens } = deps;
  const answers = new RecordAnswers(deps);
  const config = { admit: admitApiCallers(tokens, 'read') };
  serveHistory(app, { store, config, readable: (request) => answers.readable(request) });
  const route = { config, preValidation: refuseMisspeltFilters };
  serveNodes(app, { store, route, answers });
  serveProviders(app, { store, route, answers });
  serveInterfaces(app, { route, answers });
}

interface RouteDeps {
  readonly store: Pick<Store, 'list' | 'providers'>;
  readonly route: {
    readonly config: FastifyContextConfig;
    readonly preValidation: typeof refuseMisspeltFilters;
  };
  readonly answers: RecordAnswers;
}

/** Serves `GET /v1/inventory/node-configs` and `…/{nodeName}`, with reported data per NIC. */
function serveNodes(app: HttpServer, { store, route, answers }: RouteDeps): void {
  const decorate: Decorate = async (records) => answers.withNotes(records);
  app.get(
    inventoryPath,
    {
      ...route,
      schema: {
        operationId: 'listInventory',
        summary: 'Delivered node configs, ordered by provider and node',
        querystring: recordsQuery,
        response: { 200: observedRecords, ...errors },
      },
    },
    async (request, reply) => answers.send(request, reply, request.query, { decorate }),
  );
  app.get(
    `${inventoryPath}/:nodeName`,
    {
      ...route,
      schema: {
        operationId: 'getInventory',
        summary: 'The node of this name in every business cluster, or in the given one',
        params: z.object({ nodeName: z.string().min(1).max(253) }),
        querystring: inventoryQuery.pick({ providerId: true }),
        response: { 200: observedRecords, ...errors, ...problemResponses(problem, 404) },
      },
    },
    async (request) => {
      const providers = answers.readable(request);
      const { nodeName } = request.params;
      const { providerId } = request.query;
      const found = await store.list({ nodeName, providerId, providers, limit: 1000 });
      if (found.length > 0) return answers.withNotes(found);
      throw new HttpProblem(404, 'NoSuchNode', `no node config for "${nodeName}" was delivered`);
    },
  );
}

/** Serves `GET /v1/interfaces/providers`. */
function serveProviders(app: HttpServer, { store, route, answers }: RouteDeps): void {
  app.get(
    `${interfacesPath}/providers`,
    {
      ...route,
      schema: {
        operationId: 'listProviders',
        summary: 'Business clusters with the nodes delivered there, ordered by id and name',
        querystring: page,
        response: { 200: inventoryProviders, ...errors },
      },
    },
    async (request, reply) => {
      const { limit, continue: token } = request.query;
      const after = keyOf(token)?.providerId;
      const found = await store.providers({ providers: answers.readable(request), limit, after });
      const last = found.length === limit ? found.at(-1) : undefined;
      if (last) reply.header(continueHeader, tokenOf({ ...last, nodeName: '' }));
      return { providers: found };
    },
  );
}

/** Serves `GET /v1/interfaces/node-configs` and `…/by-instance/{instanceId}`. */
function serveInterfaces(app: HttpServer, { route, answers }: Omit<RouteDeps, 'store'>): void {
  app.get(
    `${interfacesPath}/node-configs`,
    {
      ...route,
      schema: {
        operationId: 'listInterfaces',
        summary: 'Delivered node configs of one business cluster, ordered by node',
        querystring: page.extend({
          providerId: z.string().min(1).max(253).describe('Business cluster.'),
        }),
        response: { 200: inventoryRecords, ...errors },
      },
    },
    async (request, reply) => answers.send(request, reply, request.query),
  );
  app.get(
    `${interfacesPath}/node-configs/by-instance/:instanceId`,
    {
      ...route,
      schema: {
        operationId: 'getInterfacesOfInstance',
        summary:
          'Delivered node configs of one server, in every business cluster or in the given one',
        params: z.object({ instanceId: z.string().min(1).max(64) }),
        querystring: page.extend(inventoryQuery.pick({ providerId: true }).shape),
        response: { 200: inventoryRecords, ...errors, ...problemResponses(problem, 404) },
      },
    },
    async (request, reply) => {
      const { instanceId } = request.params;
      const detail = `no node config for the server "${instanceId}" was delivered`;
      const missing = new HttpProblem(404, 'NoSuchServer', detail);
      return answers.send(request, reply, { ...request.query, instanceId }, { missing });
    },
  );
}

const filterNames = Object.keys(recordsQuery.shape);

/**
 * Refuses `providerId[]`, `nodename` or `instance_id`: ignoring a misspelt filter would return everything. Other
 * unknown parameters are ignored, as in the legacy system.
 */
async function refuseMisspeltFilters({ query }: FastifyRequest): Promise<void> {
  for (const given of Object.keys(query ?? {})) {
    const meant = filterNames.find((name) => lettersOf(name) === lettersOf(given));
    if (meant === undefined || meant === given) continue;
    const detail = `query parameter "${given}" is unknown; write ${meant}=VALUE`;
    throw new HttpProblem(400, 'InvalidRequest', detail);
  }
}

function lettersOf(name: string): string {
  return name.toLowerCase().replaceAll(/[^a-z]/g, '');
}
