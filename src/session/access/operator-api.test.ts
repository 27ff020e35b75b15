import { expect, it, onTestFinished } from 'vitest';
import * as z from 'zod';
import { listen } from '../../operator/testing/listener.ts';
import { systemClock } from '../../time/clock.ts';
import { OperatorApi } from './operator-api.ts';

/** Starts a server with a page per request, after a delay (ms); returns its API with a limit of 500 ms. */
async function pagesOf(delay: number, tokenOf: (at: number) => string) {
  let at = 0;
  const server = await listen('http', (_, answer) => {
    at += 1;
    const body = JSON.stringify({ items: [at], continue: tokenOf(at) });
    setTimeout(() => answer.end(body), delay);
  });
  onTestFinished(() => server[Symbol.asyncDispose]());
  const url = `http://127.0.0.1:${server.port}`;
  const api = new OperatorApi({ url, verifiesTls: false }, { clock: systemClock, ms: 500 });
  onTestFinished(() => api[Symbol.asyncDispose]());
  return api.pages('/v1/nodes', z.object({ items: z.array(z.number()), continue: z.string() }));
}

it.each([
  ['repeats a token', 0, () => 'same', /\/v1\/nodes has no end/],
  ['has more pages than fit into the limit', 50, String, /no answer within 500 ms/],
] as const)('pages rejects when the list %s', async (...row) => {
  const [, delay, tokenOf, message] = row;
  await expect(pagesOf(delay, tokenOf)).rejects.toThrow(message);
});

const paths = ['/v1/clusters', '/v1/nodes', '/healthz', '/version'];

async function apiOf(scheme: 'http' | 'https') {
  const server = await listen(scheme, ({ url }, answer) => answer.end(url));
  onTestFinished(() => server[Symbol.asyncDispose]());
  const address = { url: `http://127.0.0.1:${server.port}`, verifiesTls: false };
  const api = new OperatorApi(address, { clock: systemClock, ms: 10_000 });
  onTestFinished(() => api[Symbol.asyncDispose]());
  return api;
}

it.each(['http', 'https'] as const)(
  'concurrent requests through a port-forward all succeed when the operator serves %s',
  async (scheme) => {
    const api = await apiOf(scheme);
    expect(await Promise.all(paths.map((path) => api.text(path)))).toEqual(paths);
    expect(await api.text('/later')).toBe('/later');
  },
);
