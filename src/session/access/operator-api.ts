import * as z from 'zod';
import type { Limit } from '../../time/deadline.ts';
import { ApiError, noJson, parsedJson } from './api-error.ts';
import {
  type Answer,
  type Call,
  type Headers,
  type OperatorAddress,
  OperatorPools,
} from './operator-pools.ts';
import { SourceLimit } from './source-limit.ts';

type Query = Readonly<Record<string, string | number | undefined>>;

interface LimitedCall extends Call {
  /** Longest time until the last byte; undefined: the API's limit. */
  readonly ms?: number | undefined;
}

type PageSchema<T> = z.ZodType<{ items: T[]; continue?: string | undefined }>;

/** The operator's HTTP API. Every request ends at the limit. */
export class OperatorApi implements AsyncDisposable {
  readonly #pools: OperatorPools;
  readonly #limit: SourceLimit;

  constructor(address: OperatorAddress | OperatorPools, limit: Limit | SourceLimit) {
    this.#pools = address instanceof OperatorPools ? address : new OperatorPools(address);
    this.#limit = limit instanceof SourceLimit ? limit : new SourceLimit(limit);
  }

  /** Returns the API over the same connections, with another limit. */
  within(limit: SourceLimit): OperatorApi {
    return new OperatorApi(this.#pools, limit);
  }

  async get<T>(path: string, schema: z.ZodType<T>, query: Query = {}, ms?: number): Promise<T> {
    return (await this.getWithHeaders(path, schema, query, ms)).body;
  }

  /** Returns the body with the response headers, such as x-continue. */
  async getWithHeaders<T>(
    path: string,
    schema: z.ZodType<T>,
    query: Query = {},
    ms?: number,
  ): Promise<{ readonly body: T; readonly headers: Headers }> {
    const call = { method: 'GET', path: path + searchOf(query), ms } as const;
    const { text, headers } = await this.#send(call);
    return { body: parsedBody(text, schema), headers };
  }

  async post<T>(path: string, body: unknown, schema: z.ZodType<T>): Promise<T> {
    const call = { method: 'POST', path, body } as const;
    return parsedBody((await this.#send(call)).text, schema);
  }

  /** Returns an answer's text, such as metrics. */
  async text(path: string): Promise<string> {
    return (await this.#send({ method: 'GET', path })).text;
  }

  /**
   * Opens a stream of server-sent events after an event id (undefined: from now on). The limit counts until the headers
   * arrive; the signal ends the stream.
   */
  events(
    path: string,
    lastId: string | undefined,
    signal: AbortSignal,
  ): Promise<AsyncIterable<Uint8Array>> {
    const headers = {
      accept: 'text/event-stream',
      ...(lastId === undefined ? {} : { 'last-event-id': lastId }),
    };
    return this.#limit.call((opening) => {
      const end = AbortSignal.any([signal, opening]);
      return this.#pools.open({ method: 'GET', path, headers }, end);
    });
  }

  /** Returns all items of a paged list; the limit counts for all pages together. */
  pages<T>(path: string, schema: PageSchema<T>, query: Query = {}): Promise<T[]> {
    return this.#limit.call((signal) => this.#allPages(path, { schema, query, signal }));
  }

  async #allPages<T>(
    path: string,
    { schema, query, signal }: { schema: PageSchema<T>; query: Query; signal: AbortSignal },
  ): Promise<T[]> {
    const items: T[] = [];
    const tokens = new Set<string>();
    let token: string | undefined;
    do {
      const search = searchOf({ limit: 1_000, ...query, continue: token });
      const { text } = await this.#pools.send({ method: 'GET', path: path + search }, signal);
      const page = parsedBody(text, schema);
      items.push(...page.items);
      token = page.continue;
      if (token !== undefined && tokens.has(token)) throw repeated(path);
      tokens.add(token ?? '');
    } while (token !== undefined);
    return items;
  }

  #send({ ms, ...call }: LimitedCall): Promise<Answer> {
    return this.#limit.call((signal) => this.#pools.send(call, signal), ms);
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#pools[Symbol.asyncDispose]();
  }
}

/** Returns the query with its question mark; empty: no query. */
function searchOf(query: Query): string {
  const search = new URLSearchParams();
  for (const [key, value] of Object.entries(query)) {
    if (value !== undefined) search.set(key, String(value));
  }
  return search.size > 0 ? `?${search.toString()}` : '';
}

function repeated(path: string): ApiError {
  const message = `the list ${path} has no end: the operator sends a continue token again`;
  return new ApiError(0, 'RepeatedPage', message);
}

function parsedBody<T>(text: string, schema: z.ZodType<T>): T {
  const body = parsedJson(text);
  if (body === undefined) throw noJson(200, text);
  const parsed = schema.safeParse(body);
  if (parsed.success) return parsed.data;
  const why = z.prettifyError(parsed.error).replaceAll('\n', ' ');
  throw new ApiError(0, 'UnknownAnswer', `the answer is not from the API of the operator: ${why}`);
}
