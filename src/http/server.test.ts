import type { AddressInfo } from 'node:net';
import { Registry } from 'prom-client';
import { afterEach, describe, expect, it } from 'vitest';
import * as z from 'zod';
import { about } from '../../test/fixtures/about.ts';
import { createHealth } from '../process/health.ts';
import { createLogger } from '../process/log.ts';
import { address } from '../process/setting-schemas.ts';
import { systemClock } from '../time/clock.ts';
import type { AnsweredRequest } from './access-log.ts';
import type { HttpServer } from './app.ts';
import { HttpProblem } from './problem.ts';
import { createHttpServer, listen } from './server.ts';

const open: HttpServer[] = [];
const lines: string[] = [];

async function server(options: { inFlightLimit?: number; bodyLimit?: number } = {}) {
  const answered: AnsweredRequest[] = [];
  const health = createHealth();
  const app = await createHttpServer({
    title: 'test',
    clock: systemClock,
    log: createLogger({
      part: 'test',
      level: 'debug',
      destination: { write: (line) => void lines.push(line) },
    }),
    health,
    about,
    registry: new Registry(),
    onAnswer: (request) => void answered.push(request),
    ...options,
  });
  open.push(app);
  return { app, health, answered };
}

afterEach(async () => {
  await Promise.all(open.splice(0).map((app) => app.close()));
  lines.length = 0;
});

describe('createHttpServer', () => {
  it('a thrown HttpProblem becomes problem details with the request id', async () => {
    const { app } = await server();
    app.get('/busy', async () => {
      throw new HttpProblem(503, 'ClusterUnreachable', 'try later', { retryAfterSeconds: 7 });
    });
    const answer = await app.inject({ url: '/busy', headers: { 'x-request-id': 'req-1' } });
    expect(answer.statusCode).toBe(503);
    expect(answer.headers['content-type']).toContain('application/problem+json');
    expect(answer.headers['retry-after']).toBe('7');
    expect(answer.json()).toMatchObject({ code: 'ClusterUnreachable', requestId: 'req-1' });
  });

  it('an unexpected error becomes status 500 without its message', async () => {
    const { app } = await server();
    app.get('/bug', async () => {
      throw new Error('password is hunter2');
    });
    const answer = await app.inject({ url: '/bug' });
    expect(answer.statusCode).toBe(500);
    expect(answer.body).not.toContain('hunter2');
  });

  it('a schema violation becomes status 400 with the field name', async () => {
    const { app } = await server();
    app.post('/nics', { schema: { body: z.object({ mtu: z.int().min(68) }) } }, async () => 'ok');
    const answer = await app.inject({ method: 'POST', url: '/nics', payload: { mtu: 1 } });
    expect(answer.statusCode).toBe(400);
    expect(answer.json()).toMatchObject({ code: 'InvalidRequest', errors: [{ field: 'mtu' }] });
  });

  it('a body above the limit gets 413, and invalid JSON gets 400', async () => {
    const { app } = await server({ bodyLimit: 64 });
    app.post('/nics', async () => 'ok');
    const post = (payload: string) =>
      app.inject({
        method: 'POST',
        url: '/nics',
        payload,
        headers: { 'content-type': 'application/json' },
      });
    expect((await post(JSON.stringify('x'.repeat(100)))).statusCode).toBe(413);
    expect((await post('{')).json()).toMatchObject({ status: 400, code: 'InvalidRequest' });
  });

  it('the default body limit is exactly 4 MiB', async () => {
    const { app } = await server();
    app.post('/nics', async ({ body }) => String((body as string[])[0]?.length));
    const statusOf = async (bytes: number) => {
      const payload = [`["${'x'.repeat(bytes - 4)}"]`].join('');
      const headers = { 'content-type': 'application/json' };
      return (await app.inject({ method: 'POST', url: '/nics', headers, payload })).statusCode;
    };
    expect([await statusOf(4 * 1024 ** 2), await statusOf(4 * 1024 ** 2 + 1)]).toEqual([200, 413]);
  });

  it.each(['two words', 'x'.repeat(65), '', '{"level":"error"}', 'ä'])(
    'the server replaces an invalid request id %j by a new id',
    async (given) => {
      const { app } = await server();
      const answer = await app.inject({ url: '/healthz', headers: { 'x-request-id': given } });
      expect(answer.headers['x-request-id']).toMatch(/^[0-9a-f-]{36}$/);
    },
  );

  it('requests above the in-flight limit get 429, and /healthz still answers', async () => {
    const { app } = await server({ inFlightLimit: 1 });
    const [started, gate] = [Promise.withResolvers<void>(), Promise.withResolvers<string>()];
    app.get('/slow', async () => {
      started.resolve();
      return gate.promise;
    });
    const first = Promise.resolve(app.inject({ url: '/slow' }));
    await started.promise;
    expect((await app.inject({ url: '/slow' })).statusCode).toBe(429);
    expect((await app.inject({ url: '/healthz' })).statusCode).toBe(200);
    gate.resolve('done');
    expect((await first).statusCode).toBe(200);
  });

  it('/readyz returns 503 with the failing check while /healthz returns 200', async () => {
    const { app, health } = await server();
    health.ready('cache', () => 'OpenstackConfigs are not listed yet');
    expect((await app.inject({ url: '/healthz' })).statusCode).toBe(200);
    const ready = await app.inject({ url: '/readyz' });
    expect(ready.statusCode).toBe(503);
    expect(ready.body).toContain('OpenstackConfigs are not listed yet');
  });

  it('OpenAPI documents and docs are served from local files', async () => {
    const { app } = await server();
    app.get('/nics', { schema: { response: { 200: z.array(z.string()) } } }, async () => []);
    await app.ready();
    expect((await app.inject({ url: '/openapi.json' })).json()).toHaveProperty(['paths', '/nics']);
    expect((await app.inject({ url: '/openapi.yaml' })).body).toContain('/nics:');
    const docs = await app.inject({ url: '/docs/' });
    expect(docs.statusCode).toBe(200);
    expect(docs.body).not.toMatch(/https?:\/\/(?!localhost)/);
  });

  it('the access log contains route and status, never body or query', async () => {
    const { app, answered } = await server();
    app.post('/nics/:id', async () => 'ok');
    await app.inject({ method: 'POST', url: '/nics/7?token=t0k3n', payload: { key: 'hunter2' } });
    expect(answered).toMatchObject([{ method: 'POST', route: '/nics/:id', status: 200 }]);
    expect(lines.join('')).not.toMatch(/hunter2|t0k3n/);
  });
});

it('the server times out slow senders (30 s) and slow readers (90 s)', async () => {
  const { app } = await server();
  expect(app.server.requestTimeout).toBe(30_000);
  // Above the work's deadline, because the socket is idle during the work.
  expect(app.server.timeout).toBe(90_000);
});

describe('listen', () => {
  it('listen serves until the signal aborts', async () => {
    const { app } = await server();
    const stop = new AbortController();
    const { url } = await listen(app, { host: '127.0.0.1', port: 0 }, stop.signal);
    expect((await fetch(`${url}/healthz`)).status).toBe(200);
    stop.abort();
    await expect.poll(() => app.server.listening).toBe(false);
  });

  it.each([
    ['', ['127.0.0.1', '[::1]']],
    ['0.0.0.0', ['127.0.0.1']],
    ['[::1]', ['[::1]']],
  ])('host "%s" answers at %j and at no other loopback address', async (written, hosts) => {
    const { app } = await server();
    const stop = new AbortController();
    await listen(app, address().parse(`${written}:0`), stop.signal);
    const { port } = app.server.address() as AddressInfo;
    const answers = await Promise.all(
      ['127.0.0.1', '[::1]'].map(async (host) =>
        fetch(`http://${host}:${port}/healthz`).then(
          ({ status }) => (status === 200 ? [host] : []),
          () => [],
        ),
      ),
    );
    stop.abort();
    expect(answers.flat()).toEqual(hosts);
  });

  it('listen explains a port already in use', async () => {
    const [first, second] = [await server(), await server()];
    const { signal } = new AbortController();
    const { url } = await listen(first.app, { host: '127.0.0.1', port: 0 }, signal);
    const port = Number(new URL(url).port);
    await expect(listen(second.app, { host: '127.0.0.1', port }, signal)).rejects.toThrow(
      `127.0.0.1:${port} is taken by another process; stop it or choose another address`,
    );
  });
});
