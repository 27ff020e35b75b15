import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, it, onTestFinished, vi } from 'vitest';
import * as z from 'zod';
import { listen } from '../../operator/testing/listener.ts';
import { systemClock } from '../../time/clock.ts';
import { cliMain } from '../main-cli.ts';
import { OperatorApi } from './operator-api.ts';

/** Starts a server with a fixed answer; returns the URL. */
async function serve(status: number, text: string): Promise<string> {
  const server = createServer((_, response) => response.writeHead(status).end(text));
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

const page = '<!DOCTYPE html>\n<html>\u001b[31m Bad Gateway</html>';
const proxy = 'another server or a proxy answers at this address';

it.each([
  ['a page with status 200', 200, page, 'status 200 is no JSON', proxy],
  ['a page with status 404', 404, page, 'status 404 is no JSON', proxy],
  ['a page with status 403', 403, page, 'status 403 is no JSON', proxy],
  ['a page with status 502', 502, page, 'status 502 is no JSON', proxy],
  ['a cut-off list', 200, '{"items": [', 'status 200 is no JSON', proxy],
  ['an empty body', 503, '', 'status 503 is empty', proxy],
  [
    'JSON of another API',
    200,
    '{"kind":"Status"}',
    'not from the API of the operator',
    "operator's log",
  ],
  ['a 404 of an operator without the route', 404, '{"message":"x"}', 'older', 'upgrade'],
])('nodes ends with 1 and names cause and next step when the answer is %s', async (...row) => {
  const [, status, text, cause, next] = row;
  const url = await serve(status, text);
  const err: string[] = [];
  const error = vi.spyOn(console, 'error').mockImplementation((line) => void err.push(`${line}`));
  onTestFinished(() => error.mockRestore());
  expect(await cliMain('nodes', ['--inventory', url])).toBe(1);
  expect(err.join('\n')).toContain(cause);
  expect(err.join('\n')).toMatch(new RegExp(`\nNext: .*${next}`));
  expect(err.join('\n')).not.toContain('\u001b');
});

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

it.each([
  ['garbage', 'is not an http or https URL'],
  ['ftp://127.0.0.1', 'is not an http or https URL'],
  ['u:s3cret@127.0.0.1:1', 'is not an http or https URL'],
  ['https://u:s3cret@127.0.0.1:1', '--inventory https://127.0.0.1:1: '],
  ['http://127.0.0.1:1/?token=s3cret', 'operator (http://127.0.0.1:1)'],
])('nodes with --inventory %s names the problem, and no secret', async (url, text) => {
  const err: string[] = [];
  const error = vi.spyOn(console, 'error').mockImplementation((line) => void err.push(`${line}`));
  onTestFinished(() => error.mockRestore());
  expect(await cliMain('nodes', ['--inventory', url])).toBe(text.startsWith('operator') ? 1 : 2);
  expect(err.join('\n')).toContain(text);
  expect(err.join('\n')).toContain('\nNext: ');
  expect(err.join('\n')).not.toContain('s3cret');
});
