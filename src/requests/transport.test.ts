import { createServer, type RequestListener, type Server } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { afterEach, describe, expect, test } from 'vitest';
import { systemClock } from '../time/clock.ts';
import { createFakeClock } from '../time/fake-clock.ts';
import { testCertificate, testKey } from './test-certificate.ts';
import { createTransport, type HttpRequest, type TlsOptions } from './transport.ts';

const signal = new AbortController().signal;
const open: AsyncDisposable[] = [];

afterEach(async () => {
  for (const resource of open.splice(0).toReversed()) await resource[Symbol.asyncDispose]();
});

async function listen(server: Server, scheme: string): Promise<URL> {
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  open.push({
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  });
  return new URL(`${scheme}://127.0.0.1:${(server.address() as AddressInfo).port}/ports?a=1`);
}

async function serve(listener: RequestListener): Promise<{ url: URL; server: Server }> {
  const server = createServer(listener);
  return { server, url: await listen(server, 'http') };
}

function setUp(clock = systemClock) {
  const transport = createTransport({ clock });
  open.push(transport);
  return { transport };
}

function get(url: URL, tls: TlsOptions = {}): HttpRequest {
  return { service: 'neutron', method: 'GET', url, tls, timeoutMs: 10_000 };
}

async function serveTls(): Promise<URL> {
  const options = { key: testKey, cert: testCertificate };
  return listen(
    createTlsServer(options, (_, response) => response.end('{}')),
    'https',
  );
}

describe('createTransport', () => {
  test('transport returns status, headers and text, even for error statuses', async () => {
    const { transport } = setUp();
    const { url } = await serve((incoming, response) => {
      response.writeHead(404, { 'X-Subject-Token': 't' }).end(`${incoming.method} ${incoming.url}`);
    });
    expect(await transport.send(get(url), signal)).toMatchObject({
      status: 404,
      headers: { 'x-subject-token': 't' },
      text: 'GET /ports?a=1',
    });
  });

  test('transport opens at most eight connections and reuses them', async () => {
    const { transport } = setUp();
    const { url, server } = await serve((_, response) => response.end('{}'));
    let connections = 0;
    server.on('connection', () => {
      connections += 1;
    });
    const together = Array.from({ length: 50 }, async () => transport.send(get(url), signal));
    await Promise.all(together);
    for (let i = 0; i < 20; i++) await transport.send(get(url), signal);
    expect(connections).toBeLessThanOrEqual(8);
  });

  test('a missing answer is a timeout, and the connection is closed', async () => {
    const clock = createFakeClock();
    const { transport } = setUp(clock);
    const arrived = Promise.withResolvers<void>();
    const closed = Promise.withResolvers<void>();
    const { url } = await serve((incoming) => {
      incoming.socket.once('close', () => closed.resolve());
      arrived.resolve();
    });
    const failure = transport.send(get(url), signal).catch((error: unknown) => error);
    await arrived.promise;
    await clock.advance(10_000);
    expect(await failure).toMatchObject({
      kind: 'timeout',
      message: `neutron: GET ${url.origin}/ports: no answer within 10 s`,
    });
    await closed.promise;
  });

  test('a trickling body does not extend the time limit', async () => {
    const clock = createFakeClock();
    const { transport } = setUp(clock);
    const begun = Promise.withResolvers<void>();
    const { url } = await serve((_, response) => {
      response.write('{', () => begun.resolve());
    });
    const failure = transport.send(get(url), signal).catch((error: unknown) => error);
    await begun.promise;
    await clock.advance(10_000);
    expect(await failure).toMatchObject({ kind: 'timeout' });
  });

  test('a truncated body fails as unreachable, never as a short answer', async () => {
    const { transport } = setUp();
    const { url } = await serve((_, response) => {
      response.writeHead(200, { 'content-length': 100 });
      response.write('{"ports": []', () => response.destroy());
    });
    await expect(transport.send(get(url), signal)).rejects.toMatchObject({
      kind: 'unreachable',
      message: `neutron: GET ${url.origin}/ports: the connection was closed before the answer was complete`,
    });
  });

  test('an answer beyond the size limit fails with kind tooLarge', async () => {
    const transport = createTransport({ clock: systemClock, bodyLimitBytes: 1_000 });
    open.push(transport);
    const { url } = await serve((_, response) => response.end('x'.repeat(1_001)));
    await expect(transport.send(get(url), signal)).rejects.toMatchObject({
      kind: 'tooLarge',
      message: expect.stringContaining('more than 1000 bytes') as unknown,
    });
  });

  test('a closed port fails as unreachable, with equal text every time', async () => {
    const { transport } = setUp();
    const { url, server } = await serve(() => undefined);
    await new Promise((resolve) => server.close(resolve));
    const failures = [1, 2].map(async () =>
      transport.send(get(url), signal).catch((error: unknown) => String(error)),
    );
    const [first, second] = await Promise.all(failures);
    expect(first).toContain('connection refused');
    expect(second).toBe(first);
  });

  test('transport throws the abort reason when the caller aborts', async () => {
    const { transport } = setUp();
    const given = new AbortController();
    const { url } = await serve(() => given.abort(new Error('given up')));
    await expect(transport.send(get(url), given.signal)).rejects.toThrow('given up');
  });
});

describe('transport TLS', () => {
  test('a self-signed certificate is refused, and the message gives advice', async () => {
    const { transport } = setUp();
    const url = await serveTls();
    await expect(transport.send(get(url), signal)).rejects.toMatchObject({
      kind: 'unreachable',
      message: expect.stringContaining('give the CA bundle') as unknown,
    });
  });

  test('a CA bundle makes its certificates trusted', async () => {
    const { transport } = setUp();
    const url = await serveTls();
    const answer = await transport.send(get(url, { ca: testCertificate }), signal);
    expect(answer.status).toBe(200);
  });

  test('insecure applies only to requests with the option, not to other requests to the same host', async () => {
    const { transport } = setUp();
    const url = await serveTls();
    expect((await transport.send(get(url, { insecure: true }), signal)).status).toBe(200);
    await expect(transport.send(get(url), signal)).rejects.toMatchObject({
      kind: 'unreachable',
    });
  });

  test('transport closes only connections in lanes idle for hours', async () => {
    const clock = createFakeClock();
    const { transport } = setUp(clock);
    const { url, server } = await serve((_, response) => response.end('{}'));
    // The server would keep idle connections longer than the test lasts.
    server.keepAliveTimeout = 600_000;
    const closed: number[] = [];
    let connections = 0;
    server.on('connection', (socket) => {
      const number = connections++;
      socket.on('close', () => closed.push(number));
    });
    const ask = async (lane: string) => transport.send({ ...get(url), lane }, signal);
    await ask('left');
    await clock.advance(3_600_000);
    await ask('used');
    await clock.advance(3_600_001);
    await ask('new');
    await expect.poll(() => closed).toEqual([0]);
    expect((await ask('left')).status).toBe(200);
  });
});
