import { type Dispatcher, Pool } from 'undici';
import type { Clock, Random } from '../../time/clock.ts';
import { DeadlineReached, withDeadline } from '../../time/deadline.ts';
import type { ClusterAccess } from '../access/access.ts';
import { KubeError } from '../errors.ts';
import { parseJson, readText, refusal } from './answer.ts';
import { connector } from './connector.ts';
import { retryAfter } from './retry.ts';

const connectTimeoutMs = 10_000;
const keepAliveTimeoutMs = 20_000;

export interface ApiRequest {
  readonly method: 'GET' | 'POST' | 'PATCH' | 'DELETE';
  readonly path: string;
  readonly query?: Readonly<Record<string, string | number | boolean | undefined>>;
  readonly contentType?: string;
  readonly body?: unknown;
  /** Answers beyond this are `AnswerTooLarge`; default: what the largest single object may take. */
  readonly maxBytes?: number;
  /** Executing it twice leaves the same state: it may be sent again when nobody knows whether it arrived. */
  readonly repeatable: boolean;
  readonly signal?: AbortSignal | undefined;
}

export interface TransportOptions {
  readonly clock: Clock;
  readonly random: Random;
  readonly userAgent: string;
  readonly timeoutMs: number;
  readonly connections: number;
  readonly onRequest?: ((sample: RequestSample) => void) | undefined;
}

/** One try of one request, as far as metrics tell of it. */
export interface RequestSample {
  /** HTTP method, or WATCH for a stream. */
  readonly verb: string;
  /** HTTP status of the answer; 0 when none came. */
  readonly status: number;
  /** Until the answer was read; of a stream until it began. */
  readonly durationMs: number;
}

/** HTTP to one API server: identity, limits, retries and errors. */
export class Transport implements AsyncDisposable {
  readonly #access: ClusterAccess;
  readonly #options: TransportOptions;
  /** Of a server that is reached under a path, as those behind Rancher are. */
  readonly #prefix: string;
  readonly #calls: Pool;
  /** Each watch holds its connection: in a bounded pool a few of them would starve the calls. */
  readonly #streams: Pool;

  constructor(access: ClusterAccess, options: TransportOptions) {
    this.#access = access;
    this.#options = options;
    const { origin, pathname } = new URL(access.server);
    this.#prefix = pathname.replace(/\/$/, '');
    const pool = poolOptions(access, options);
    this.#calls = new Pool(origin, { ...pool, connections: options.connections });
    this.#streams = new Pool(origin, pool);
  }

  /** Sends a request, again where that is safe, and gives the parsed JSON of a 2xx answer. */
  async call(request: ApiRequest): Promise<unknown> {
    const { clock, random } = this.#options;
    for (let attempt = 0; ; attempt++) {
      try {
        return await this.#callOnce(request);
      } catch (error) {
        if (!(error instanceof KubeError)) throw error;
        const waitMs = retryAfter(error, { attempt, repeatable: request.repeatable, random });
        if (waitMs === undefined) throw error;
        await clock.sleep(waitMs, request.signal);
      }
    }
  }

  /** Opens a stream: one try; after the headers only the signal ends it. */
  async open(
    request: ApiRequest & { readonly signal: AbortSignal },
  ): Promise<AsyncIterable<Buffer>> {
    const stop = request.signal;
    const abort = new AbortController();
    stop.addEventListener('abort', () => abort.abort(stop.reason), { once: true });
    try {
      return await this.#limited('WATCH', request, async (limit) => {
        limit.addEventListener('abort', () => abort.abort(limit.reason), { once: true });
        const response = await this.#send(this.#streams, request, abort.signal);
        if (response.statusCode >= 300) throw await refusal(describe(request), response);
        return response.body;
      });
    } catch (error) {
      throw stop.aborted ? error : unreachable(request, error);
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all([this.#calls.destroy(), this.#streams.destroy()]);
  }

  async #callOnce(request: ApiRequest): Promise<unknown> {
    try {
      return await this.#limited(request.method, request, async (limit) => {
        const response = await this.#send(this.#calls, request, limit);
        if (response.statusCode >= 300) throw await refusal(describe(request), response);
        const text = await readText(response.body, describe(request), request.maxBytes);
        return parseJson(text, describe(request));
      });
    } catch (error) {
      throw request.signal?.aborted ? error : unreachable(request, error);
    }
  }

  async #limited<T>(
    verb: string,
    request: ApiRequest,
    work: (limit: AbortSignal) => Promise<T>,
  ): Promise<T> {
    const { clock, timeoutMs: ms, onRequest } = this.#options;
    const startedAt = clock.monotonicMs();
    const tell = (status: number): void =>
      onRequest?.({ verb, status, durationMs: clock.monotonicMs() - startedAt });
    try {
      const result = await withDeadline({ clock, ms, signal: request.signal }, work);
      tell(200);
      return result;
    } catch (error) {
      tell(error instanceof KubeError ? error.status : 0);
      throw error;
    }
  }

  async #send(
    pool: Pool,
    request: ApiRequest,
    signal: AbortSignal,
  ): Promise<Dispatcher.ResponseData> {
    const { token } = this.#access;
    const headers: Record<string, string> = {
      accept: 'application/json',
      'user-agent': this.#options.userAgent,
    };
    if (token) headers['authorization'] = `Bearer ${await token()}`;
    // As a string, so that undici frames it with Content-Length for every method: an unframed body of a DELETE would
    // be read as the start of the next request on this connection.
    const body = request.body === undefined ? null : JSON.stringify(request.body);
    if (body !== null) headers['content-type'] = request.contentType ?? 'application/json';
    const path = `${this.#prefix}${pathOf(request)}`;
    // Without `reset: false` undici closes the connection after every DELETE that has a body.
    return pool.request({ method: request.method, path, headers, body, signal, reset: false });
  }
}

function poolOptions(access: ClusterAccess, { timeoutMs }: TransportOptions): Pool.Options {
  return {
    // One black-holed HTTP/2 connection would take every call and watch with it.
    allowH2: false,
    keepAliveTimeout: keepAliveTimeoutMs,
    // Our deadlines, on the injected clock, cover headers and body.
    headersTimeout: 0,
    bodyTimeout: 0,
    // A connection that nobody waits for any more must not hold up those who queue behind it.
    connect: connector(access, Math.min(connectTimeoutMs, timeoutMs)),
  };
}

function pathOf({ path, query = {} }: ApiRequest): string {
  const search = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) {
    if (value !== undefined) search.set(name, String(value));
  }
  return search.size === 0 ? path : `${path}?${search.toString()}`;
}

function describe({ method, path }: ApiRequest): string {
  return `${method} ${path}`;
}

/** No answer, or none that could be read. */
function unreachable(request: ApiRequest, error: unknown): KubeError {
  if (error instanceof KubeError) return error;
  return new KubeError({
    status: 0,
    reason: error instanceof DeadlineReached ? 'Timeout' : 'Unreachable',
    message: `${describe(request)}: ${whatHappened(error)}`,
    cause: error,
  });
}

/** Connecting to a name with several addresses fails with an AggregateError that has a code and no message. */
function whatHappened(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  return error.message || ('code' in error ? String(error.code) : error.name);
}
