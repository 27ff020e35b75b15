import type { FastifyReply, FastifyRequest } from 'fastify';
import * as z from 'zod';
import {
  type InventoryRecord,
  inventoryQuery,
  type ObservedRecord,
} from '../api/inventory-http.ts';
import { refuseStale, visibleProviders } from '../http/api-callers.ts';
import type { HttpProblem } from '../http/problem.ts';
import type { Store } from '../store/store.ts';
import { continueHeader } from './continue.ts';
import { keyOf, tokenOf } from './page-token.ts';
import { type Decorate, RecordLists } from './record-list.ts';

// Without a limit the whole list is returned: legacy callers do not know pages.
export const page = z.object({
  limit: z.coerce.number().int().min(1).max(1000).optional(),
  continue: z
    .string()
    .max(1024)
    .optional()
    .describe('Value of header x-continue of the previous page.'),
});

/** Query parameters for record lists. */
export const recordsQuery = inventoryQuery.extend(page.shape);

interface RecordAnswersDeps {
  readonly store: Pick<Store, 'list' | 'notesOf'>;
  /** Returns why the records may be stale; undefined: current. */
  readonly unavailable: () => string | undefined;
}

interface SendOptions {
  /** Default: the records as stored. */
  readonly decorate?: Decorate;
  /** Thrown if no record matches; undefined: an empty list is an answer. */
  readonly missing?: HttpProblem;
}

/** Answers with the caller's readable records. */
export class RecordAnswers {
  readonly #deps: RecordAnswersDeps;
  readonly #lists: RecordLists;

  constructor(deps: RecordAnswersDeps) {
    this.#deps = deps;
    this.#lists = new RecordLists(deps.store);
  }

  /** Returns the providers visible to the caller, undefined: all; throws when records may be stale. */
  readable(request: FastifyRequest): readonly string[] | undefined {
    refuseStale(this.#deps.unavailable());
    return visibleProviders(request);
  }

  /** Sends one page of records, or all records without a limit. */
  async send(
    request: FastifyRequest,
    reply: FastifyReply,
    { limit, continue: token, ...query }: z.infer<typeof recordsQuery>,
    { decorate = unchanged, missing }: SendOptions = {},
  ): Promise<never> {
    const providers = this.readable(request);
    const filter = { ...query, providers, limit, after: keyOf(token) };
    const { body, last, isEmpty } = await this.#lists.read(filter, decorate);
    if (isEmpty && missing && token === undefined) throw missing;
    if (last) reply.header(continueHeader, tokenOf(last));
    // Fastify, the logger and the stream pipe add eleven close listeners; Node.js warns above ten.
    reply.raw.setMaxListeners(20);
    // A stream's bytes bypass the route's schema, although the type matches.
    return reply.type('application/json; charset=utf-8').send(body) as never;
  }

  /** Adds the agents' reports about each NIC. */
  async withNotes(records: readonly InventoryRecord[]): Promise<ObservedRecord[]> {
    const notes = await this.#deps.store.notesOf(records);
    return records.map(({ config, ...record }) => {
      const noted = (entry: (typeof config.interfaces)[number]) => ({
        ...entry,
        ...notes.of(record.providerId, entry.portId),
      });
      return { ...record, config: { ...config, interfaces: config.interfaces.map(noted) } };
    });
  }
}

const unchanged: Decorate = async (records) => records;
