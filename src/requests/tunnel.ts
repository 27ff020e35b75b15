import type { buildConnector } from 'undici';
import type { Proxy } from './proxies.ts';

/** A proxy that does not let a request through. */
export class ProxyRefused extends Error {
  override readonly name = 'ProxyRefused';
  readonly status: number;
  constructor(status: number) {
    super(`the proxy answers with status ${status}`);
    this.status = status;
  }
}

type Connector = buildConnector.connector;

/** Connects to what a proxy lets through (CONNECT), and has `connect` speak TLS in there. */
export function tunnelThrough(proxy: Proxy, connect: Connector, timeoutMs: number): Connector {
  return (options, callback) => {
    const { hostname } = options;
    const host = hostname.includes(':') ? `[${hostname}]` : hostname;
    const target = `${host}:${options.port || 443}`;
    // An import of node:http would have Node.js load an undici of its own, in every process.
    const name = proxy.origin.startsWith('https:') ? 'node:https' : 'node:http';
    const asked = process.getBuiltinModule(name).request(proxy.origin, {
      method: 'CONNECT',
      path: target,
      headers: { host: target, ...proxyHeaders(proxy) },
      agent: false,
      timeout: timeoutMs,
    });
    asked.once('connect', ({ statusCode = 0 }, socket) => {
      socket.setTimeout(0);
      if (statusCode === 200) {
        connect({ ...options, httpSocket: socket }, callback);
        return;
      }
      socket.destroy();
      callback(new ProxyRefused(statusCode), null);
    });
    asked.once('timeout', () => asked.destroy(timedOut()));
    asked.once('error', (error) => callback(error, null));
    asked.end();
  };
}

/** What a proxy is told beside what the server is told. */
export function proxyHeaders({ authorization }: Proxy): Record<string, string> {
  return authorization === undefined ? {} : { 'proxy-authorization': authorization };
}

function timedOut(): Error {
  return Object.assign(new Error('the proxy does not answer'), { code: 'ETIMEDOUT' });
}
