import { once } from 'node:events';
import { createServer, type RequestListener } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import type { AddressInfo, Socket } from 'node:net';
import { testCertificate, testKey } from '../../requests/test-certificate.ts';

/** A local server that counts connections, including connections without a request. */
export interface Listener extends AsyncDisposable {
  readonly url: string;
  readonly port: number;
  readonly connections: number;
  /** Presents this certificate from now on, and closes existing connections. */
  present(pair: Pair): void;
}

/** Certificate and key as PEM. */
interface Pair {
  readonly certificate: string;
  readonly key: string;
}

export async function listen(
  scheme: 'http' | 'https',
  listener: RequestListener,
): Promise<Listener> {
  const encrypted = createTlsServer({ key: testKey, cert: testCertificate }, listener);
  const server = scheme === 'http' ? createServer(listener) : encrypted;
  const sockets = new Set<Socket>();
  let connections = 0;
  server.on('connection', (socket: Socket) => {
    connections += 1;
    sockets.add(socket);
    socket.on('close', () => sockets.delete(socket));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    url: `${scheme}://127.0.0.1:${port}`,
    port,
    get connections() {
      return connections;
    },
    present({ certificate, key }) {
      encrypted.setSecureContext({ cert: certificate, key });
      for (const socket of sockets) socket.destroy();
    },
    async [Symbol.asyncDispose]() {
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
