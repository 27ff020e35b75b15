import { createHash } from 'node:crypto';
import { Pool } from 'undici';
import type { Clock } from '../time/clock.ts';
import { withDeadline } from '../time/deadline.ts';
import { BodyTooLong, networkFailure } from './network-failure.ts';
import type { Service } from './request-error.ts';

/** How a service's certificate is checked. */
export interface TlsOptions {
  /** PEM bundle that replaces the system's authorities. */
  readonly ca?: string;
  /** Accepts any certificate; only when somebody asked for it. */
  readonly insecure?: boolean;
}

export interface HttpRequest {
  readonly service: Service;
  readonly method: 'GET' | 'POST' | 'DELETE';
  readonly url: URL;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
  readonly tls: TlsOptions;
  /** Answers beyond this are refused; default: the transport's limit. */
  readonly bodyLimitBytes?: number;
  /** Requests of another lane never wait for a connection of this one. */
  readonly lane?: string;
  readonly timeoutMs: number;
}

/** An answer that arrived completely, whatever its status. */
export interface HttpAnswer {
  readonly status: number;
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly text: string;
}

export interface Transport extends AsyncDisposable {
  /** One attempt. Throws RequestError `timeout`, `unreachable` or `tooLarge`, or the signal's reason. */
  send(request: HttpRequest, signal: AbortSignal): Promise<HttpAnswer>;
}

export interface TransportOptions {
  readonly clock: Clock;
  /** Answers beyond this are refused. */
  readonly bodyLimitBytes?: number;
}

// 20,000 ports with all their fields are 14.6 MB; parsed they take five times as much of the operator's heap.
const usualBodyLimitBytes = 16 * 1024 * 1024;
const connectionsPerOrigin = 8;
const connectTimeoutMs = 5_000;

/** HTTP over one connection pool per origin, TLS setting and lane, kept until disposed: a pool per call leaks sockets. */
export function createTransport({
  clock,
  bodyLimitBytes = usualBodyLimitBytes,
}: TransportOptions): Transport {
  const pools = new Map<string, Pool>();

  function poolOf({ url, tls, lane = '' }: HttpRequest): Pool {
    const trust = tls.insecure ? 'insecure' : sha256(tls.ca ?? '');
    const key = `${url.origin} ${trust} ${lane}`;
    let pool = pools.get(key);
    if (pool === undefined) {
      pool = new Pool(url.origin, {
        connections: connectionsPerOrigin,
        // One black-holed HTTP/2 connection would take every call with it.
        allowH2: false,
        // The deadline of the whole exchange is ours.
        headersTimeout: 0,
        bodyTimeout: 0,
        connect: {
          timeout: connectTimeoutMs,
          rejectUnauthorized: tls.insecure !== true,
          ...(tls.ca === undefined ? {} : { ca: tls.ca }),
        },
      });
      pools.set(key, pool);
    }
    return pool;
  }

  return {
    async send(request, signal) {
      try {
        return await withDeadline({ clock, ms: request.timeoutMs, signal }, async (limited) =>
          exchange(poolOf(request), request, request.bodyLimitBytes ?? bodyLimitBytes, limited),
        );
      } catch (error) {
        signal.throwIfAborted();
        throw networkFailure(request, error);
      }
    },
    async [Symbol.asyncDispose]() {
      await Promise.all([...pools.values()].map(async (pool) => pool.destroy()));
    },
  };
}

async function exchange(
  pool: Pool,
  request: HttpRequest,
  bodyLimitBytes: number,
  signal: AbortSignal,
): Promise<HttpAnswer> {
  const answer = await pool.request({
    method: request.method,
    path: request.url.pathname + request.url.search,
    headers: {
      accept: 'application/json',
      'user-agent': 'multinic',
      ...(request.body === undefined ? {} : { 'content-type': 'application/json' }),
      ...request.headers,
    },
    body: request.body ?? null,
    signal,
  });
  const chunks: Buffer[] = [];
  let length = 0;
  for await (const chunk of answer.body as AsyncIterable<Buffer>) {
    length += chunk.length;
    // Leaving the loop destroys the body and with it the connection.
    if (length > bodyLimitBytes)
      throw new BodyTooLong(`the answer has more than ${bodyLimitBytes} bytes`);
    chunks.push(chunk);
  }
  const text = Buffer.concat(chunks).toString('utf8');
  return { status: answer.statusCode, headers: answer.headers, text };
}

function sha256(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}
