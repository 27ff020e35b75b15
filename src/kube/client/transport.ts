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
  /** Larger answers are `AnswerTooLarge`; default: the limit for a single object. */
  readonly maxBytes?: number;
  /** True for idempotent requests: safe to retry when the outcome is unknown. */
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

/** One attempt, for metrics. */
export interface RequestSample {
  /** HTTP method, or WATCH for a stream. */
  readonly verb: string;
  /** HTTP status; 0 without an answer. */
  readonly status: number;
  /** Time until the answer was read; for a stream until the headers arrived. */
  readonly durationMs: number;
}

/** HTTP transport to one API server: identity, limits, retries and errors. */
export class Transport implements AsyncDisposable {
  readonly #access: ClusterAccess;
  readonly #options: TransportOptions;
  /** Path prefix for a server below a path, such as behind Rancher. */
  readonly #prefix: string;
  readonly #calls: Pool;
  /** Each watch occupies a connection: in a bounded pool a few watches would starve the calls. */
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

  /** Sends a request, retries if safe, and returns the parsed JSON from a 2xx answer. */
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

  /** Opens a stream in one attempt; after the headers only the signal ends the stream. */
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
    const report = (status: number): void =>
      onRequest?.({ verb, status, durationMs: clock.monotonicMs() - startedAt });
    try {
      const result = await withDeadline({ clock, ms, signal: request.signal }, work);
      report(200);
      return result;
    } catch (error) {
      report(error instanceof KubeError ? error.status : 0);
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
    // A string body makes undici send Content-Length for every method. The server would read an unframed DELETE body
    // as the connection's next request.
    const body = request.body === undefined ? null : JSON.stringify(request.body);
    if (body !== null) headers['content-type'] = request.contentType ?? 'application/json';
    const path = `${this.#prefix}${pathOf(request)}`;
    // Without `reset: false` undici closes the connection after every DELETE with a body.
    return pool.request({ method: request.method, path, headers, body, signal, reset: false });
  }
}

function poolOptions(access: ClusterAccess, { timeoutMs }: TransportOptions): Pool.Options {
  return {
    // One black-holed HTTP/2 connection would block every call and watch.
    allowH2: false,
    keepAliveTimeout: keepAliveTimeoutMs,
    // Our own deadlines, on the injected clock, cover headers and body.
    headersTimeout: 0,
    bodyTimeout: 0,
    // An abandoned connection attempt must not block queued requests.
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

/** Returns the error for a missing or unreadable answer. */
function unreachable(request: ApiRequest, error: unknown): KubeError {
  if (error instanceof KubeError) return error;
  return new KubeError({
    status: 0,
    reason: error instanceof DeadlineReached ? 'Timeout' : 'Unreachable',
    message: `${describe(request)}: ${causeText(error)}`,
    cause: error,
  });
}

/** Connecting to a name with several addresses fails with an AggregateError without message, but with a code. */
function causeText(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  return error.message || ('code' in error ? String(error.code) : error.name);
}
