import { once } from 'node:events';
import { createServer, type RequestListener, type Server } from 'node:http';
import { createServer as createSecureServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import type { ServerCertificate } from './certificate.ts';

export interface Listener {
  readonly url: string;
  /** The certificate (PEM) of an HTTPS listener. */
  readonly ca: string | undefined;
  /** Cuts every connection. */
  close(): Promise<void>;
}

/** As long as Go's default, so that a client's idle connection is not cut while it is being used again. */
const keepAliveMs = 180_000;

/** Opens a port on loopback; rejects with a sentence when it is taken. */
export async function openListener(
  port: number,
  certificate: ServerCertificate | undefined,
  listener: RequestListener,
): Promise<Listener> {
  const server = newServer(certificate, listener);
  server.keepAliveTimeout = keepAliveMs;
  const scheme = certificate ? 'https' : 'http';
  return {
    url: `${scheme}://127.0.0.1:${await listen(server, port)}`,
    ca: certificate?.certificate,
    async close() {
      server.close();
      server.closeAllConnections();
      await once(server, 'close');
    },
  };
}

function newServer(certificate: ServerCertificate | undefined, listener: RequestListener): Server {
  if (!certificate) return createServer(listener);
  const { certificate: cert, privateKey: key } = certificate;
  return createSecureServer({ cert, key }, listener);
}

/** The port that the server listens on. */
async function listen(server: Server, port: number): Promise<number> {
  server.listen(port, '127.0.0.1');
  try {
    await once(server, 'listening');
  } catch (cause) {
    const taken = (cause as NodeJS.ErrnoException).code === 'EADDRINUSE';
    const why = taken ? 'is in use; choose another one or 0 for any free port' : 'cannot be opened';
    throw new Error(`port ${port} on 127.0.0.1 ${why}`, { cause });
  }
  return (server.address() as AddressInfo).port;
}
