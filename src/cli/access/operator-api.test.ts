import { expect, it, onTestFinished } from 'vitest';
import { listen } from '../../operator/testing/listener.ts';
import { OperatorApi } from './operator-api.ts';

const paths = ['/v1/clusters', '/v1/nodes', '/healthz', '/version'];

async function apiOf(scheme: 'http' | 'https') {
  const server = await listen(scheme, ({ url }, answer) => answer.end(url));
  onTestFinished(() => server[Symbol.asyncDispose]());
  const address = { url: `http://127.0.0.1:${server.port}`, verifiesTls: false };
  const api = new OperatorApi(address, new AbortController().signal);
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
