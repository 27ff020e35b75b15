import { createServer, type IncomingMessage, request, type Server } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import { type AddressInfo, connect } from 'node:net';
import type { Duplex } from 'node:stream';
import { afterEach, expect, test } from 'vitest';
import { systemClock } from '../time/clock.ts';
import { testCertificate, testKey } from './test-certificate.ts';
import { createTransport, type HttpRequest, type TlsOptions } from './transport.ts';

const signal = new AbortController().signal;
const open: AsyncDisposable[] = [];

afterEach(async () => {
  for (const resource of open.splice(0).toReversed()) await resource[Symbol.asyncDispose]();
});

async function listen(server: Server): Promise<number> {
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  open.push({
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  });
  return (server.address() as AddressInfo).port;
}

/** Opens a recording proxy; any status except 200 makes the proxy refuse with this status. */
async function openProxy(status = 200) {
  const received: { readonly line: string; readonly authorization: string | undefined }[] = [];
  const record = ({ method, url, headers }: IncomingMessage) =>
    received.push({ line: `${method} ${url}`, authorization: headers['proxy-authorization'] });
  const sockets = new Set<Duplex>();
  const proxy = createServer((incoming, response) => {
    record(incoming);
    if (status !== 200) {
      response.writeHead(status).end('the page of the proxy');
      return;
    }
    const { url = '', method, headers } = incoming;
    request(url, { method, headers }, (answer) => {
      response.writeHead(answer.statusCode ?? 0);
      answer.pipe(response);
    }).end();
  });
  proxy.on('connect', (incoming, socket) => {
    record(incoming);
    sockets.add(socket);
    if (status !== 200) {
      socket.end(`HTTP/1.1 ${status} No\r\n\r\n`);
      return;
    }
    const { hostname, port } = new URL(`http://${incoming.url}`);
    const far = connect(Number(port), hostname, () => {
      socket.write('HTTP/1.1 200 OK\r\n\r\n');
      far.pipe(socket).pipe(far);
    });
    sockets.add(far);
  });
  const port = await listen(proxy);
  open.push({
    async [Symbol.asyncDispose]() {
      for (const socket of sockets) socket.destroy();
    },
  });
  return { origin: `http://127.0.0.1:${port}`, received };
}

function through(origin: string, authorization?: string) {
  const transport = createTransport({
    clock: systemClock,
    proxyOf: () => ({ origin, authorization }),
  });
  open.push(transport);
  return transport;
}

function get(url: string, tls: TlsOptions = {}): HttpRequest {
  return { service: 'keystone', method: 'GET', url: new URL(url), tls, timeoutMs: 10_000 };
}

async function serve(): Promise<string> {
  const server = createServer(({ headers }, response) => {
    response.end(
      JSON.stringify({ host: headers.host, authorization: headers['proxy-authorization'] }),
    );
  });
  return `127.0.0.1:${await listen(server)}`;
}

async function serveTls(): Promise<string> {
  const options = { key: testKey, cert: testCertificate };
  const server = createTlsServer(options, (_, response) => response.end('{}'));
  return `127.0.0.1:${await listen(server)}`;
}

test('an http request is forwarded by the proxy with absolute URL and Proxy-Authorization', async () => {
  const [proxy, target] = await Promise.all([openProxy(), serve()]);
  const transport = through(proxy.origin, 'Basic me');
  const answer = await transport.send(get(`http://${target}/v3?a=1`), signal);
  expect(JSON.parse(answer.text)).toMatchObject({ host: target });
  expect(proxy.received).toEqual([
    { line: `GET http://${target}/v3?a=1`, authorization: 'Basic me' },
  ]);
});

test('https requests share a CONNECT tunnel, and the server certificate is verified', async () => {
  const [proxy, target] = await Promise.all([openProxy(), serveTls()]);
  const transport = through(proxy.origin, 'Basic me');
  const url = `https://${target}/v3`;
  for (let i = 0; i < 20; i += 1) {
    const answer = await transport.send(get(url, { ca: testCertificate }), signal);
    expect(answer).toMatchObject({ status: 200, text: '{}' });
  }
  expect(proxy.received[0]).toEqual({ line: `CONNECT ${target}`, authorization: 'Basic me' });
  expect(proxy.received.length).toBeLessThanOrEqual(8);
  await expect(transport.send(get(url), signal)).rejects.toMatchObject({
    kind: 'unreachable',
    message: expect.stringContaining('give the CA bundle') as unknown,
  });
});

test.each([
  ['http', 407],
  ['https', 407],
  ['https', 403],
])(
  'a proxy that refuses %s with status %i fails the request as unreachable',
  async (scheme, status) => {
    const proxy = await openProxy(status);
    const transport = through(proxy.origin);
    await expect(
      transport.send(get(`${scheme}://192.0.2.1:5000/v3`), signal),
    ).rejects.toMatchObject({
      kind: 'unreachable',
      message: `keystone: GET ${scheme}://192.0.2.1:5000/v3 through the proxy ${proxy.origin}: the proxy answers with status ${status}`,
    });
  },
);

test.each(['http', 'https'])(
  'an unreachable proxy fails the %s request as unreachable',
  async (scheme) => {
    const transport = through('http://127.0.0.1:1');
    await expect(transport.send(get(`${scheme}://192.0.2.1/v3`), signal)).rejects.toMatchObject({
      kind: 'unreachable',
      message: `keystone: GET ${scheme}://192.0.2.1/v3 through the proxy http://127.0.0.1:1: connection refused`,
    });
  },
);
