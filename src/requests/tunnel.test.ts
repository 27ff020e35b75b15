import { once } from 'node:events';
import { createServer, type Server as TlsServer } from 'node:https';
import {
  type AddressInfo,
  createServer as createTcpServer,
  type Server,
  type Socket,
} from 'node:net';
import type { buildConnector } from 'undici';
import { afterEach, expect, test } from 'vitest';
import { testCertificate, testKey } from './test-certificate.ts';
import { tunnelThrough } from './tunnel.ts';

const servers: (Server | TlsServer)[] = [];
const sockets = new Set<Socket>();

afterEach(async () => {
  for (const socket of sockets) socket.destroy();
  sockets.clear();
  for (const server of servers.splice(0)) {
    await new Promise((resolve) => server.close(resolve));
  }
});

/** Starts a proxy with this server's behaviour; returns the port. */
async function listen(server: Server | TlsServer): Promise<number> {
  servers.push(server);
  server.on('connection', (socket: Socket) => sockets.add(socket.on('error', () => undefined)));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return (server.address() as AddressInfo).port;
}

interface TunnelOptions {
  readonly origin: string;
  readonly hostname?: string;
  readonly timeoutMs?: number;
}

/** Resolves to the connection error, or to the socket for TLS. */
function open({ origin, hostname = 'far.example.com', timeoutMs = 60_000 }: TunnelOptions) {
  return new Promise<Socket | Error>((resolve) => {
    const connect: buildConnector.connector = ({ httpSocket }) => {
      if (httpSocket) resolve(httpSocket);
    };
    const through = tunnelThrough({ origin, authorization: undefined }, connect, timeoutMs);
    through({ hostname, protocol: 'https:', port: '' }, (...[error]) => {
      if (error) resolve(error);
    });
  });
}

test.each([
  ['keystone.example.com', 'keystone.example.com:443'],
  ['2001:db8::1', '[2001:db8::1]:443'],
])('tunnel to host %s sends CONNECT %s', async (hostname, expected) => {
  const requestLines: string[] = [];
  const proxy = createTcpServer((socket) => {
    socket.once('data', (head) => {
      requestLines.push(head.toString().split('\r\n', 1)[0] ?? '');
      socket.end('HTTP/1.1 403 No\r\n\r\n');
    });
  });
  await open({ origin: `http://127.0.0.1:${await listen(proxy)}`, hostname });
  expect(requestLines).toEqual([`CONNECT ${expected} HTTP/1.1`]);
});

test('a silent proxy fails the connection with ETIMEDOUT', async () => {
  const origin = `http://127.0.0.1:${await listen(createTcpServer())}`;
  expect(await open({ origin, timeoutMs: 20 })).toMatchObject({ code: 'ETIMEDOUT' });
});

test('an open tunnel has no idle timeout', async () => {
  const proxy = createTcpServer((socket) => {
    socket.once('data', () => socket.write('HTTP/1.1 200 OK\r\n\r\n'));
  });
  const opened = await open({ origin: `http://127.0.0.1:${await listen(proxy)}` });
  expect(opened).toMatchObject({ timeout: 0 });
  (opened as Socket).destroy();
});

test('the connection to a refusing proxy is closed', async () => {
  const left = Promise.withResolvers<void>();
  const proxy = createTcpServer((socket) => {
    socket.once('close', () => left.resolve());
    socket.once('data', () => socket.write('HTTP/1.1 403 No\r\n\r\n'));
  });
  const origin = `http://127.0.0.1:${await listen(proxy)}`;
  expect(await open({ origin })).toMatchObject({ status: 403 });
  await left.promise;
});

test('an https proxy must have a trusted certificate', async () => {
  const proxy = createServer({ key: testKey, cert: testCertificate });
  const origin = `https://127.0.0.1:${await listen(proxy)}`;
  expect(await open({ origin })).toMatchObject({ code: 'DEPTH_ZERO_SELF_SIGNED_CERT' });
});
