import { createHash } from 'node:crypto';
import { buildConnector, Pool } from 'undici';
import type { Clock } from '../time/clock.ts';
import { withDeadline } from '../time/deadline.ts';
import { InnerAddress, innerKindOf, lookupOutside } from './inner-addresses.ts';
import { BodyTooLong, networkFailure } from './network-failure.ts';
import { directly, type Proxy, type ProxyOf } from './proxies.ts';
import type { Service } from './request-error.ts';
import { ProxyRefused, proxyHeaders, tunnelThrough } from './tunnel.ts';

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
  /** Default: no request goes through a proxy. */
  readonly proxyOf?: ProxyOf;
  /**
   * Whether the operator vouches for an origin. All others are refused at inner addresses, after their names were looked
   * up; behind a proxy, which looks them up itself, only addresses are. Default: all are vouched for.
   */
  readonly isTrusted?: (url: URL) => boolean;
}

// 20,000 ports with all their fields are 14.6 MB; parsed they take five times as much of the operator's heap.
const usualBodyLimitBytes = 16 * 1024 * 1024;
const connectionsPerOrigin = 8;
const connectTimeoutMs = 5_000;
/** Longer than any request takes. */
const idleMs = 2 * 3_600_000;

/**
 * HTTP over one connection pool per origin, TLS setting and lane, kept while it is used: a pool per call leaks sockets, and
 * one for everything that ever was leaks memory. An origin is always behind the same proxy.
 */
export function createTransport({
  clock,
  bodyLimitBytes = usualBodyLimitBytes,
  proxyOf = directly,
  isTrusted = () => true,
}: TransportOptions): Transport {
  /** In the order of their last use. */
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
    // One black-holed HTTP/2 connection would take every call with it.
    allowH2: false,
    rejectUnauthorized: tls.insecure !== true,
    ...(tls.ca === undefined ? {} : { ca: tls.ca }),
    ...(guarded ? { lookup: lookupOutside() } : {}),
  });
  const pool = {
    connections: connectionsPerOrigin,
    allowH2: false,
    // The deadline of the whole exchange is ours.
    headersTimeout: 0,
    bodyTimeout: 0,
  };
  if (!proxy) return new Pool(url.origin, { ...pool, connect });
  // What is not encrypted a proxy reads and passes on; it would not open a tunnel to such a port.
  if (url.protocol === 'http:') return new Pool(proxy.origin, pool);
  return new Pool(url.origin, {
    ...pool,
    connect: tunnelThrough(proxy, connect, connectTimeoutMs),
  });
}

interface Way {
  readonly request: HttpRequest;
  readonly pool: Pool;
  readonly proxy: Proxy | undefined;
}

/** What a proxy has to be told of a request that it passes on. */
function passedOn({ request: { url }, proxy }: Way) {
  const path = url.pathname + url.search;
  if (!proxy || url.protocol !== 'http:') return { path, headers: {} };
  return { path: url.origin + path, headers: { host: url.host, ...proxyHeaders(proxy) } };
}

async function exchange(
  way: Way,
  bodyLimitBytes: number,
  signal: AbortSignal,
): Promise<HttpAnswer> {
  const { request, pool, proxy } = way;
  const { path, headers } = passedOn(way);
  const answer = await pool.request({
    method: request.method,
    path,
    headers: {
      accept: 'application/json',
      'user-agent': 'multinic',
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
