import type { buildConnector } from 'undici';
import type { Proxy } from './proxies.ts';

/** Error: the proxy refused the request. */
export class ProxyRefused extends Error {
  override readonly name = 'ProxyRefused';
  readonly status: number;
  constructor(status: number) {
    super(`the proxy answers with status ${status}`);
    this.status = status;
  }
}

type Connector = buildConnector.connector;

/** Opens a tunnel through the proxy (CONNECT); `connect` then starts TLS inside. */
export function tunnelThrough(proxy: Proxy, connect: Connector, timeoutMs: number): Connector {
  return (options, callback) => {
    const { hostname } = options;
    const host = hostname.includes(':') ? `[${hostname}]` : hostname;
    const target = `${host}:${options.port || 443}`;
    // Importing node:http would make Node.js load a second undici in every process.
    const name = proxy.origin.startsWith('https:') ? 'node:https' : 'node:http';
    const connectRequest = process.getBuiltinModule(name).request(proxy.origin, {
      method: 'CONNECT',
      path: target,
      headers: { host: target, ...proxyHeaders(proxy) },
      agent: false,
      timeout: timeoutMs,
    });
    connectRequest.once('connect', ({ statusCode = 0 }, socket) => {
      socket.setTimeout(0);
      if (statusCode === 200) {
        connect({ ...options, httpSocket: socket }, callback);
        return;
      }
      socket.destroy();
      callback(new ProxyRefused(statusCode), null);
    });
    connectRequest.once('timeout', () => connectRequest.destroy(timedOut()));
    connectRequest.once('error', (error) => callback(error, null));
    connectRequest.end();
  };
}

/** Returns request headers for the proxy, beside those for the server. */
export function proxyHeaders({ authorization }: Proxy): Record<string, string> {
  return authorization === undefined ? {} : { 'proxy-authorization': authorization };
}

function timedOut(): Error {
  return Object.assign(new Error('the proxy does not answer'), { code: 'ETIMEDOUT' });
}
