import type { FastifyReply, FastifyRequest } from 'fastify';
import * as z from 'zod';
import {
  type InventoryRecord,
  interfacesPath,
  inventoryPath,
  inventoryProviders,
  inventoryQuery,
  inventoryRecords,
  type ObservedRecord,
  observedRecords,
} from '../api/inventory-http.ts';
import { problem } from '../api/node-configs-http.ts';
import { admitApiCallers, refuseStale, visibleProviders } from '../http/api-callers.ts';
import type { HttpServer } from '../http/app.ts';
import { HttpProblem } from '../http/problem.ts';
import { everyRoute, problemResponses } from '../http/problem-responses.ts';
import type { TokenFile } from '../http/token-file.ts';
import type { Store } from '../store/store.ts';
import { continueHeader } from './continue.ts';
import { serveHistory } from './history.ts';
import { type Decorate, RecordLists } from './record-list.ts';

export interface InventoryDeps {
  readonly store: Pick<Store, 'list' | 'notesOf' | 'providers' | 'changes'>;
  /** Tokens for remote callers; undefined: only loopback callers may read. */
  readonly tokens: TokenFile | undefined;
  /** Returns why the records may be stale; undefined: current. */
  readonly unavailable: () => string | undefined;
}

// Without a limit the whole list is returned: legacy callers do not know pages.
const page = z.object({
  limit: z.coerce.number().int().min(1).max(1000).optional(),
  continue: z
    .string()
    .max(1024)
    .optional()
    .describe('Value of header x-continue of the previous page.'),
});

const recordsQuery = inventoryQuery.extend(page.shape);

/**
 * Serves the latest records per provider and node, with the routes from both legacy generations: `GET
 * /v1/inventory/node-configs` and `…/{nodeName}`; `GET /v1/interfaces/providers`, `…/node-configs` and
 * `…/node-configs/by-instance/{instanceId}`.
 */
export function serveInventory(app: HttpServer, deps: InventoryDeps): void {
  const { store, tokens, unavailable } = deps;
  const errors = problemResponses(problem, ...everyRoute);
  const admit = admitApiCallers(tokens, 'read');

  /** Returns the providers visible to the caller, undefined: all; throws when records may be stale. */
  function readable(request: FastifyRequest): readonly string[] | undefined {
    refuseStale(unavailable());
    return visibleProviders(request);
  }

  const route = { config: { admit }, preValidation: refuseMisspeltFilters };

  serveHistory(app, { store, config: { admit }, readable });

  const lists = new RecordLists(store);

  async function sendRecords(
    request: FastifyRequest,
    reply: FastifyReply,
    { limit, continue: token, ...query }: z.infer<typeof recordsQuery>,
    { decorate = unchanged, missing }: { decorate?: Decorate; missing?: HttpProblem } = {},
  ): Promise<never> {
    const providers = readable(request);
    const filter = { ...query, providers, limit, after: keyOf(token) };
    const { body, last, isEmpty } = await lists.read(filter, decorate);
    if (isEmpty && missing && token === undefined) throw missing;
    if (last) reply.header(continueHeader, tokenOf(last));
    // Fastify, the logger and the stream pipe add eleven close listeners; Node.js warns above ten.
    reply.raw.setMaxListeners(20);
    // A stream's bytes bypass the route's schema, although the type matches.
    return reply.type('application/json; charset=utf-8').send(body) as never;
  }

  async function withNotes(records: readonly InventoryRecord[]): Promise<ObservedRecord[]> {
    const notes = await store.notesOf(records);
    return records.map(({ config, ...record }) => {
      const noted = (entry: (typeof config.interfaces)[number]) => ({
        ...entry,
        ...notes.of(record.providerId, entry.portId),
      });
      return { ...record, config: { ...config, interfaces: config.interfaces.map(noted) } };
    });
  }

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
    async (request, reply) => sendRecords(request, reply, request.query, { decorate: withNotes }),
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
      const providers = readable(request);
      const { nodeName } = request.params;
      const { providerId } = request.query;
      const found = await store.list({ nodeName, providerId, providers, limit: 1000 });
      if (found.length > 0) return withNotes(found);
      throw new HttpProblem(404, 'NoSuchNode', `no node config for "${nodeName}" was delivered`);
    },
  );
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
      const found = await store.providers({ providers: readable(request), limit, after });
      const last = found.length === limit ? found.at(-1) : undefined;
      if (last) reply.header(continueHeader, tokenOf({ ...last, nodeName: '' }));
      return { providers: found };
    },
  );
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
    async (request, reply) => sendRecords(request, reply, request.query),
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
      return sendRecords(request, reply, { ...request.query, instanceId }, { missing });
    },
  );
}

const unchanged: Decorate = async (records) => records;

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

/** Position in the record list. */
interface Place {
  readonly providerId: string;
  readonly nodeName: string;
}

const pageKey = z.tuple([z.string(), z.string()]);

function tokenOf({ providerId, nodeName }: Place): string {
  return Buffer.from(JSON.stringify([providerId, nodeName])).toString('base64url');
}

function keyOf(token: string | undefined): Place | undefined {
  if (token === undefined) return undefined;
  try {
    const text = Buffer.from(token, 'base64url').toString('utf8');
    const [providerId, nodeName] = pageKey.parse(JSON.parse(text));
    return { providerId, nodeName };
  } catch (cause) {
    if (!(cause instanceof SyntaxError || cause instanceof z.ZodError)) throw cause;
    const detail = `continue: "${token}" is not a value of ${continueHeader}; start without it`;
    throw new HttpProblem(400, 'InvalidRequest', detail, { cause });
  }
}
