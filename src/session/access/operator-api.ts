import { buildConnector, Pool } from 'undici';
import * as z from 'zod';
import { problem } from '../../api/node-configs-http.ts';
import { userAgentOf } from '../../process/version.ts';
import { DeadlineReached, type Limit } from '../../time/deadline.ts';
import { SourceLimit } from './source-limit.ts';

/** Error answer of the operator's API; status 0: no answer. */
export class ApiError extends Error {
  readonly status: number;
  /** The problem's code, such as NoSuchPort; empty: none. */
  readonly reason: string;
  constructor(status: number, reason: string, message: string) {
    super(message);
    this.name = 'ApiError';
    this.status = status;
    this.reason = reason;
  }

  /** True if this operator is older than the route. */
  get isMissingRoute(): boolean {
    return this.status === 404 && (this.reason === 'NoSuchRoute' || this.reason === '');
  }
}

export interface OperatorAddress {
  readonly url: string;
  /** Read before each request; undefined: a loopback caller needs no token. */
  readonly token?: (() => Promise<string>) | undefined;
  /** False behind a port-forward: the API server authenticates the Pod. */
  readonly verifiesTls: boolean;
}

type Query = Readonly<Record<string, string | number | undefined>>;

interface Call {
  readonly method: 'GET' | 'POST';
  readonly path: string;
  readonly body?: unknown;
  /** Longest time until the last byte; undefined: the API's limit. */
  readonly ms?: number | undefined;
}

type PageSchema<T> = z.ZodType<{ items: T[]; continue?: string | undefined }>;

interface Attempt extends Call {
  readonly token: string | undefined;
  readonly signal: AbortSignal;
}

type Headers = Readonly<Record<string, string | undefined>>;

interface Answer {
  readonly text: string;
  readonly headers: Headers;
}

/** The operator's HTTP API. Every request ends at the limit. */
export class OperatorApi implements AsyncDisposable {
  readonly #address: OperatorAddress;
  readonly #limit: SourceLimit;
  readonly #prefix: string;
  readonly #first: Pool;
  /** The same address by TLS; undefined: the scheme of the URL counts. */
  readonly #byTls: Pool | undefined;
  #pool: Pool;

  constructor(address: OperatorAddress, limit: Limit) {
    const { protocol, origin, pathname } = new URL(address.url);
    this.#address = address;
    this.#limit = new SourceLimit(limit);
    this.#prefix = pathname.replace(/\/$/, '');
    this.#first = poolOf(origin, address);
    this.#pool = this.#first;
    if (protocol === 'http:' && !address.verifiesTls) {
      this.#byTls = poolOf(origin.replace('http:', 'https:'), address);
    }
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
      const { text } = await this.#sendNow({ method: 'GET', path: path + search }, signal);
      const page = parsedBody(text, schema);
      items.push(...page.items);
      token = page.continue;
      if (token !== undefined && tokens.has(token)) throw repeated(path);
      tokens.add(token ?? '');
    } while (token !== undefined);
    return items;
  }

  #send(call: Call): Promise<Answer> {
    return this.#limit.call((signal) => this.#sendNow(call, signal), call.ms);
  }

  async #sendNow(call: Call, signal: AbortSignal): Promise<Answer> {
    return this.#sendOnce({ ...call, signal, token: await this.#address.token?.() });
  }

  async #sendOnce(attempt: Attempt): Promise<Answer> {
    const used = this.#pool;
    try {
      return await this.#sendBy(used, attempt);
    } catch (error) {
      const isTried = used === this.#byTls || error instanceof ApiError || attempt.signal.aborted;
      if (isTried || this.#byTls === undefined) throw unreached(error);
      // A server with TLS closes a plain connection.
      return this.#sendByTls(this.#byTls, attempt, error);
    }
  }

  /** Later requests use TLS only if the server answers with TLS. */
  async #sendByTls(pool: Pool, attempt: Attempt, first: unknown): Promise<Answer> {
    try {
      const answer = await this.#sendBy(pool, attempt);
      this.#pool = pool;
      return answer;
    } catch (error) {
      if (!(error instanceof ApiError)) throw unreached(first);
      this.#pool = pool;
      throw error;
    }
  }

  async #sendBy(pool: Pool, { method, path, body, token, signal }: Attempt): Promise<Answer> {
    const answer = await pool.request({
      method,
      path: this.#prefix + path,
      signal,
      headersTimeout: 0,
      bodyTimeout: 0,
      headers: {
        'user-agent': userAgentOf('multinic-cli'),
        ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    const text = await answer.body.text();
    if (answer.statusCode < 300) return { text, headers: headersOf(answer.headers) };
    throw refusal(answer.statusCode, text);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#first.destroy();
    await this.#byTls?.destroy();
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

function poolOf(origin: string, { verifiesTls }: OperatorAddress): Pool {
  // The request's limit covers connecting, on the injected clock.
  const connect = buildConnector({
    allowH2: false,
    rejectUnauthorized: verifiesTls,
    timeout: 0,
  });
  return new Pool(origin, { connect, allowH2: false });
}

/** Returns the headers with a single value. */
function headersOf(all: Readonly<Record<string, string | string[] | undefined>>): Headers {
  const single = Object.entries(all).filter(([, value]) => typeof value === 'string');
  return Object.fromEntries(single) as Headers;
}

function unreached(error: unknown): unknown {
  const isKnown = error instanceof ApiError || error instanceof DeadlineReached;
  if (isKnown || !(error instanceof Error)) return error;
  return new ApiError(0, 'Unreachable', `the operator does not answer: ${error.message}`);
}

function refusal(status: number, text: string): ApiError {
  const body = parsedJson(text);
  if (body === undefined) return noJson(status, text);
  const read = problem.partial().safeParse(body);
  const { code = '', detail } = read.success ? read.data : {};
  return new ApiError(status, code, detail ?? `the operator answered ${status}`);
}

/** The operator answers with JSON only: a proxy or a foreign server sent this text. */
function noJson(status: number, text: string): ApiError {
  const start = text.replaceAll(/\s+/g, ' ').trim().slice(0, 80);
  const is = start === '' ? 'empty' : `no JSON (it starts with ${JSON.stringify(start)})`;
  return new ApiError(status, 'NoJson', `the answer with status ${status} is ${is}`);
}

/** Returns undefined for text that is no JSON. */
function parsedJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
