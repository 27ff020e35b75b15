import { createHash } from 'node:crypto';
import { buildConnector, Pool } from 'undici';
import { userAgentOf } from '../process/version.ts';
import type { Clock } from '../time/clock.ts';
import { withDeadline } from '../time/deadline.ts';
import { InnerAddress, innerKindOf, lookupOutside } from './inner-addresses.ts';
import { BodyTooLong, networkFailure } from './network-failure.ts';
import { directly, type Proxy, type ProxyOf } from './proxies.ts';
import type { Service } from './request-error.ts';
import { ProxyRefused, proxyHeaders, tunnelThrough } from './tunnel.ts';

const userAgent = userAgentOf('multinic');

/** Certificate verification settings. */
export interface TlsOptions {
  /** PEM bundle replacing the system CAs. */
  readonly ca?: string;
  /** Accepts any certificate; only on explicit request. */
  readonly insecure?: boolean;
}

export interface HttpRequest {
  readonly service: Service;
  readonly method: 'GET' | 'POST' | 'DELETE';
  readonly url: URL;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
  readonly tls: TlsOptions;
  /** Maximum answer size in bytes; default: the transport's limit. */
  readonly bodyLimitBytes?: number;
  /** Requests in different lanes never wait for each other's connections. */
  readonly lane?: string;
  readonly timeoutMs: number;
}

/** A complete answer, with any status. */
export interface HttpAnswer {
  readonly status: number;
  /** Header names in lower case. */
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  /** Body, decoded at the first access. */
  readonly text: string;
  /** Received bytes; undefined: the answer came from no transport. */
  readonly chunks?: readonly Buffer[];
}

export interface Transport extends AsyncDisposable {
  /**
   * Sends one request without retry. Throws RequestError `timeout`, `unreachable` or `tooLarge`, or the signal's
   * reason.
   */
  send(request: HttpRequest, signal: AbortSignal): Promise<HttpAnswer>;
}

export interface TransportOptions {
  readonly clock: Clock;
  /** Maximum answer size in bytes. */
  readonly bodyLimitBytes?: number;
  /** Default: no request uses a proxy. */
  readonly proxyOf?: ProxyOf;
  /**
   * Returns true for origins the operator trusts. All other origins are refused if their resolved addresses are inner
   * ones. Behind a proxy, which resolves names itself, only literal addresses are checked. Default: all origins are
   * trusted.
   */
  readonly isTrusted?: (url: URL) => boolean;
}

// 20,000 ports with all fields are 14.6 MB; parsed, they take five times as much heap.
const defaultBodyLimitBytes = 16 * 1024 * 1024;
const connectionsPerOrigin = 8;
const connectTimeoutMs = 5_000;
/** Longer than any request. */
const idleMs = 2 * 3_600_000;

/**
 * Creates an HTTP transport with one connection pool per origin, TLS setting and lane. Pools close when idle: a pool
 * per call leaks sockets, and permanent pools leak memory. An origin always uses the same proxy.
 */
export function createTransport({
  clock,
  bodyLimitBytes = defaultBodyLimitBytes,
  proxyOf = directly,
  isTrusted = () => true,
}: TransportOptions): Transport {
  /** Sorted by last use. */
  const pools = new Map<string, { readonly pool: Pool; readonly usedAt: number }>();

  function poolOf({ url, tls, lane = '' }: HttpRequest, proxy: Proxy | undefined): Pool {
    const trust = tls.insecure ? 'insecure' : sha256(tls.ca ?? '');
    const key = `${url.origin} ${trust} ${lane}`;
    const pool = pools.get(key)?.pool ?? openPool(url, tls, proxy, !isTrusted(url));
    const usedAt = clock.monotonicMs();
    pools.delete(key);
    pools.set(key, { pool, usedAt });
    closeUnused(usedAt - idleMs);
    return pool;
  }

  function closeUnused(since: number): void {
    for (const [key, { pool, usedAt }] of pools) {
      if (usedAt >= since) break;
      pools.delete(key);
      void pool.destroy();
    }
  }

  return {
    async send(request, signal) {
      const proxy = proxyOf(request.url);
      try {
        const inner = isTrusted(request.url) ? undefined : innerKindOf(request.url.hostname);
        if (inner !== undefined) throw new InnerAddress(`the host is ${inner}`);
        return await withDeadline({ clock, ms: request.timeoutMs, signal }, async (limited) =>
          exchange(
            { request, pool: poolOf(request, proxy), proxy },
            request.bodyLimitBytes ?? bodyLimitBytes,
            limited,
          ),
        );
      } catch (error) {
        signal.throwIfAborted();
        throw networkFailure({ ...request, proxy: proxy?.origin }, error);
      }
    },
    async [Symbol.asyncDispose]() {
      await Promise.all([...pools.values()].map(async ({ pool }) => pool.destroy()));
    },
  };
}

function openPool(url: URL, tls: TlsOptions, proxy: Proxy | undefined, guarded: boolean): Pool {
  const connect = buildConnector({
    timeout: connectTimeoutMs,
    // One black-holed HTTP/2 connection would block every call.
    allowH2: false,
    rejectUnauthorized: tls.insecure !== true,
    ...(tls.ca === undefined ? {} : { ca: tls.ca }),
    ...(guarded ? { lookup: lookupOutside() } : {}),
  });
  const pool = {
    connections: connectionsPerOrigin,
    allowH2: false,
    // Our own deadline covers the whole exchange.
    headersTimeout: 0,
    bodyTimeout: 0,
  };
  if (!proxy) return new Pool(url.origin, { ...pool, connect });
  // Proxies forward plain HTTP, and usually refuse tunnels to such ports.
  if (url.protocol === 'http:') return new Pool(proxy.origin, pool);
  return new Pool(url.origin, {
    ...pool,
    connect: tunnelThrough(proxy, connect, connectTimeoutMs),
  });
}

interface Route {
  readonly request: HttpRequest;
  readonly pool: Pool;
  readonly proxy: Proxy | undefined;
}

/** Returns path and extra headers for a request the proxy forwards. */
function forwardedParts({ request: { url }, proxy }: Route) {
  const path = url.pathname + url.search;
  if (!proxy || url.protocol !== 'http:') return { path, headers: {} };
  return { path: url.origin + path, headers: { host: url.host, ...proxyHeaders(proxy) } };
}

async function exchange(
  route: Route,
  bodyLimitBytes: number,
  signal: AbortSignal,
): Promise<HttpAnswer> {
  const { request, pool, proxy } = route;
  const { path, headers } = forwardedParts(route);
  const answer = await pool.request({
    method: request.method,
    path,
    headers: {
      accept: 'application/json',
      'user-agent': userAgent,
      ...(request.body === undefined ? {} : { 'content-type': 'application/json' }),
      ...request.headers,
      ...headers,
    },
    body: request.body ?? null,
    signal,
  });
  if (proxy && answer.statusCode === 407) throw new ProxyRefused(407);
  const chunks: Buffer[] = [];
  let length = 0;
  for await (const chunk of answer.body as AsyncIterable<Buffer>) {
    length += chunk.length;
    // Leaving the loop destroys the body and the connection.
    if (length > bodyLimitBytes)
      throw new BodyTooLong(`the answer has more than ${bodyLimitBytes} bytes`);
    chunks.push(chunk);
  }
  return received(answer.statusCode, answer.headers, chunks);
}

/** Returns an answer, decoded only for callers reading the text: lists with known bytes need no text. */
function received(
  status: number,
  headers: HttpAnswer['headers'],
  chunks: readonly Buffer[],
): HttpAnswer {
  let decoded: string | undefined;
  return {
    status,
    headers,
    chunks,
    get text() {
      decoded ??= Buffer.concat(chunks).toString('utf8');
      return decoded;
    },
  };
}

function sha256(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}
