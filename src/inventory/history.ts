import type { FastifyContextConfig, FastifyRequest } from 'fastify';
import * as z from 'zod';
import {
  historyPath,
  historyQuery,
  inventoryChanges,
  oldestHeader,
} from '../api/inventory-http.ts';
import { problem } from '../api/node-configs-http.ts';
import type { HttpServer } from '../http/app.ts';
import { HttpProblem } from '../http/problem.ts';
import { everyRoute, problemResponses } from '../http/problem-responses.ts';
import type { Store } from '../store/store.ts';
import { continueHeader } from './continue.ts';

interface HistoryDeps {
  readonly store: Pick<Store, 'changes' | 'oldestChange'>;
  readonly config: FastifyContextConfig;
  /** Returns the business clusters visible to the caller; undefined: all. Throws when the records may be stale. */
  readonly readable: (request: FastifyRequest) => readonly string[] | undefined;
}

/** Serves `GET /v1/inventory/history`: NIC changes with time and author, newest first. */
export function serveHistory(app: HttpServer, { store, config, readable }: HistoryDeps): void {
  app.get(
    historyPath,
    {
      config,
      schema: {
        operationId: 'listHistory',
        summary: 'Changes of NICs, newest first, each with the NIC before and after',
        querystring: historyQuery,
        response: { 200: inventoryChanges, ...problemResponses(problem, ...everyRoute) },
      },
    },
    async (request, reply) => {
      const { since, continue: token, ...query } = request.query;
      const providers = readable(request);
      const before = token === undefined ? undefined : numberIn(token);
      const from = since === undefined ? undefined : new Date(since);
      const found = await store.changes({ ...query, since: from, providers, before });
      const last = found.length === query.limit ? found.at(-1) : undefined;
      if (last) reply.header(continueHeader, tokenOf(last.id));
      const oldest = await store.oldestChange(providers);
      if (oldest !== undefined) reply.header(oldestHeader, oldest);
      return found.map(({ change }) => change);
    },
  );
}

function tokenOf(id: number): string {
  return Buffer.from(String(id)).toString('base64url');
}

const changeNumber = z.coerce.number().int().positive();

function numberIn(token: string): number {
  const text = Buffer.from(token, 'base64url').toString('utf8');
  const parsed = changeNumber.safeParse(text);
  if (parsed.success) return parsed.data;
  const detail = `continue: "${token}" is not a value of ${continueHeader}; start without it`;
  throw new HttpProblem(400, 'InvalidRequest', detail);
}
