import { buildConnector, type Dispatcher, Pool } from 'undici';
import { userAgentOf } from '../../process/version.ts';
import { DeadlineReached } from '../../time/deadline.ts';
import { ApiError, refusal } from './api-error.ts';

export interface OperatorAddress {
  readonly url: string;
  /** Read before each request; undefined: a loopback caller needs no token. */
  readonly token?: (() => Promise<string>) | undefined;
  /** False behind a port-forward: the API server authenticates the Pod. */
  readonly verifiesTls: boolean;
}

export interface Call {
  readonly method: 'GET' | 'POST';
  readonly path: string;
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
}

interface Attempt<T> extends Call {
  readonly token: string | undefined;
  readonly signal: AbortSignal;
  /** Reads an answer with a status below 300. */
  readonly read: (answer: Dispatcher.ResponseData) => Promise<T>;
}

export type Headers = Readonly<Record<string, string | undefined>>;

export interface Answer {
  readonly text: string;
  readonly headers: Headers;
}

/** Connections to the operator, shared by all requests. */
export class OperatorPools implements AsyncDisposable {
  readonly #address: OperatorAddress;
  readonly #prefix: string;
  readonly #first: Pool;
  /** The same address by TLS; undefined: the scheme of the URL counts. */
  readonly #byTls: Pool | undefined;
  #pool: Pool;

  constructor(address: OperatorAddress) {
    const { protocol, origin, pathname } = new URL(address.url);
    this.#address = address;
    this.#prefix = pathname.replace(/\/$/, '');
    this.#first = poolOf(origin, address);
    this.#pool = this.#first;
    if (protocol === 'http:' && !address.verifiesTls) {
      this.#byTls = poolOf(origin.replace('http:', 'https:'), address);
    }
  }

  /** Returns an answer with a status below 300. Rejects with an ApiError, or with the reason of the signal. */
  async send(call: Call, signal: AbortSignal): Promise<Answer> {
    return this.#sendOnce({
      ...call,
      signal,
      read: readAnswer,
      token: await this.#address.token?.(),
    });
  }

  /** Opens an answer without end, such as events; the signal also ends the answer. Rejects like `send`. */
  async open(call: Call, signal: AbortSignal): Promise<AsyncIterable<Uint8Array>> {
    return this.#sendOnce({ ...call, signal, read: bodyOf, token: await this.#address.token?.() });
  }

  async #sendOnce<T>(attempt: Attempt<T>): Promise<T> {
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
  async #sendByTls<T>(pool: Pool, attempt: Attempt<T>, first: unknown): Promise<T> {
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

  async #sendBy<T>(pool: Pool, { read, ...attempt }: Attempt<T>): Promise<T> {
    const { method, path, body, token, signal, headers } = attempt;
    const answer = await pool.request({
      method,
      path: this.#prefix + path,
      signal,
      headersTimeout: 0,
      bodyTimeout: 0,
      headers: {
        'user-agent': userAgentOf('multinic-cli'),
        ...headers,
        ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    if (answer.statusCode < 300) return read(answer);
    throw refusal(answer.statusCode, await answer.body.text());
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#first.destroy();
    await this.#byTls?.destroy();
  }
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

async function readAnswer({ body, headers }: Dispatcher.ResponseData): Promise<Answer> {
  return { text: await body.text(), headers: headersOf(headers) };
}

async function bodyOf({ body }: Dispatcher.ResponseData): Promise<AsyncIterable<Uint8Array>> {
  return body;
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
