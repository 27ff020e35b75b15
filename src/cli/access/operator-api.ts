import { Agent, request } from 'undici';
import * as z from 'zod';
import { problem } from '../../api/node-configs-http.ts';

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
}

interface Attempt extends Call {
  readonly token: string | undefined;
}

/** The operator's HTTP API. */
export class OperatorApi implements AsyncDisposable {
  readonly #address: OperatorAddress;
  readonly #signal: AbortSignal;
  readonly #agent: Agent;
  #origin: string;

  constructor(address: OperatorAddress, signal: AbortSignal) {
    this.#address = address;
    this.#origin = address.url.replace(/\/$/, '');
    this.#signal = signal;
    this.#agent = new Agent({ connect: { rejectUnauthorized: address.verifiesTls } });
  }

  async get<T>(path: string, schema: z.ZodType<T>, query: Query = {}): Promise<T> {
    const search = new URLSearchParams();
    for (const [key, value] of Object.entries(query)) {
      if (value !== undefined) search.set(key, String(value));
    }
    const suffix = search.size > 0 ? `?${search.toString()}` : '';
    return this.#parsed({ method: 'GET', path: path + suffix }, schema);
  }

  async post<T>(path: string, body: unknown, schema: z.ZodType<T>): Promise<T> {
    return this.#parsed({ method: 'POST', path, body }, schema);
  }

  /** Returns an answer's text, such as metrics. */
  async text(path: string): Promise<string> {
    return this.#send({ method: 'GET', path });
  }

  /** Returns all items of a paged list. */
  async pages<T>(
    path: string,
    schema: z.ZodType<{ items: T[]; continue?: string | undefined }>,
    query: Query = {},
  ): Promise<T[]> {
    const items: T[] = [];
    let token: string | undefined;
    do {
      const page = await this.get(path, schema, { limit: 1_000, ...query, continue: token });
      items.push(...page.items);
      token = page.continue;
    } while (token !== undefined);
    return items;
  }

  async #parsed<T>(call: Call, schema: z.ZodType<T>): Promise<T> {
    const parsed = schema.safeParse(parsedJson(await this.#send(call)));
    if (parsed.success) return parsed.data;
    const why = z.prettifyError(parsed.error).replaceAll('\n', ' ');
    throw new ApiError(
      0,
      'UnknownAnswer',
      `the operator's answer to ${call.path} is unknown: ${why}`,
    );
  }

  async #send(call: Call): Promise<string> {
    const attempt = { ...call, token: await this.#address.token?.() };
    const origin = this.#origin;
    try {
      return await this.#sendTo(origin, attempt);
    } catch (error) {
      // A server with TLS closes a plain connection.
      const mayBeTls = !this.#address.verifiesTls && origin.startsWith('http:');
      if (!mayBeTls || error instanceof ApiError || this.#signal.aborted) throw unreached(error);
      return this.#sendWithTls(origin.replace('http:', 'https:'), attempt, error);
    }
  }

  /** Later requests use TLS only if the server answers with TLS. */
  async #sendWithTls(origin: string, attempt: Attempt, first: unknown): Promise<string> {
    try {
      const text = await this.#sendTo(origin, attempt);
      this.#origin = origin;
      return text;
    } catch (error) {
      if (!(error instanceof ApiError)) throw unreached(first);
      this.#origin = origin;
      throw error;
    }
  }

  async #sendTo(origin: string, { method, path, body, token }: Attempt): Promise<string> {
    const answer = await request(origin + path, {
      method,
      dispatcher: this.#agent,
      signal: this.#signal,
      headersTimeout: 70_000,
      headers: {
        'user-agent': 'multinic-cli',
        ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    const text = await answer.body.text();
    if (answer.statusCode < 300) return text;
    throw refusal(answer.statusCode, text);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#agent.destroy();
  }
}

function unreached(error: unknown): unknown {
  if (error instanceof ApiError || !(error instanceof Error)) return error;
  return new ApiError(0, 'Unreachable', `the operator does not answer: ${error.message}`);
}

function refusal(status: number, text: string): ApiError {
  const read = problem.partial().safeParse(parsedJson(text));
  const { code = '', detail } = read.success ? read.data : {};
  return new ApiError(status, code, detail ?? `the operator answered ${status}`);
}

/** Returns `{}` for text that is no JSON, such as a proxy's error page: no schema accepts it. */
function parsedJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return {};
  }
}
