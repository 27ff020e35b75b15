import { Registry } from 'prom-client';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { about } from '../../test/fixtures/about.ts';
import { createHealth } from '../process/health.ts';
import { createLogger } from '../process/log.ts';
import { systemClock } from '../time/clock.ts';
import type { HttpServer } from './app.ts';
import { createHttpServer } from './server.ts';

let app: HttpServer;

beforeEach(async () => {
  app = await createHttpServer({
    title: 'test',
    clock: systemClock,
    log: createLogger({ part: 'test', level: 'silent' }),
    health: createHealth(),
    registry: new Registry(),
    about,
  });
});

afterEach(() => app.close());

it('/version answers any caller without a token', async () => {
  const answer = await app.inject({ url: '/version', remoteAddress: '10.0.0.9' });
  expect(answer.json()).toEqual(about.version);
});

it.each(['127.0.0.1', '::1', '::ffff:127.0.0.1'])(
  '/configz shows settings to loopback address %s',
  async (ip) => {
    const answer = await app.inject({ url: '/configz', remoteAddress: ip });
    expect(answer.json()).toEqual(about.settings);
  },
);

it.each([
  ['a web page whose name resolves to 127.0.0.1', { host: 'evil.example:8080' }],
  ['a caller behind a proxy in the Pod', { host: 'localhost', 'x-forwarded-for': '10.0.0.9' }],
  ['a caller behind a service mesh proxy', { host: 'localhost', via: '1.1 mesh' }],
])('/configz refuses %s', async (_who, headers) => {
  const answer = await app.inject({ url: '/configz', remoteAddress: '127.0.0.6', headers });
  expect(answer.statusCode).toBe(403);
});

it('/configz refuses remote callers despite forged proxy headers', async () => {
  const headers = { 'x-forwarded-for': '127.0.0.1', forwarded: 'for=127.0.0.1' };
  const answer = await app.inject({ url: '/configz', remoteAddress: '10.0.0.9', headers });
  expect(answer.statusCode).toBe(403);
  expect(answer.json()).toMatchObject({ code: 'LoopbackOnly' });
  expect(answer.body).toContain('kubectl port-forward');
  expect(answer.body).not.toContain('pace');
});
