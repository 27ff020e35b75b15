import { connect } from 'node:net';
import { text } from 'node:stream/consumers';
import { Registry } from 'prom-client';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { about } from '../../test/fixtures/about.ts';
import { createHealth } from '../process/health.ts';
import { createLogger } from '../process/log.ts';
import { systemClock } from '../time/clock.ts';
import type { HttpServer } from './app.ts';
import { createHttpServer, listen } from './server.ts';

let app: HttpServer;
let url: URL;
const stop = new AbortController();

beforeAll(async () => {
  app = await createHttpServer({
    title: 'test',
    clock: systemClock,
    log: createLogger({ part: 'test', level: 'silent' }),
    health: createHealth(),
    about,
    registry: new Registry(),
  });
  app.get('/things/:name', async () => 'ok');
  url = new URL((await listen(app, { host: '127.0.0.1', port: 0 }, stop.signal)).url);
});

afterAll(async () => {
  stop.abort(new Error('done'));
  await app.close();
});

/** Sends raw bytes; returns status, media type and code from the response. */
async function raw(request: string) {
  const socket = connect(Number(url.port), url.hostname);
  socket.write(request);
  const [head = '', body = ''] = (await text(socket)).split('\r\n\r\n');
  return {
    status: Number(/^HTTP\/1\.1 (\d+)/.exec(head)?.[1]),
    type: /^content-type: ([^;\r]*)/im.exec(head)?.[1],
    code: (JSON.parse(body) as { code: string }).code,
  };
}

const ask = (path: string, ...headers: string[]) =>
  raw([`GET ${path} HTTP/1.1`, 'Host: x', 'Connection: close', ...headers, '', ''].join('\r\n'));
const problem = 'application/problem+json';

it.each([
  ['headers of 20 kB', () => ask('/', `x: ${'x'.repeat(20_000)}`), 431, 'HeadersTooLarge'],
  ['a name of 2,000 characters', () => ask(`/things/${'x'.repeat(2000)}`), 414, 'PathTooLong'],
  ['an undecodable path', () => ask('/things/%ff'), 400, 'InvalidRequest'],
  ['another protocol', () => raw('EHLO there\r\n\r\n'), 400, 'BadRequest'],
  ['an unknown path', () => ask('/nowhere'), 404, 'NoSuchRoute'],
])('a request with %s gets problem details', async (_what, send, status, code) => {
  expect(await send()).toEqual({ status, type: problem, code });
});

it('a percent-encoded node name with 252 bytes is accepted', async () => {
  expect((await fetch(new URL(`/things/${'%C3%A9'.repeat(126)}`, url))).status).toBe(200);
});
