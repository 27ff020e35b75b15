import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, it, onTestFinished } from 'vitest';
import { createLogger } from '../../../process/log.ts';
import { systemAuthorities } from '../../../requests/ca-bundle.ts';
import { RequestError } from '../../../requests/request-error.ts';
import { createFakeClock } from '../../../time/fake-clock.ts';
import { anOwner, noRecords } from '../../testing/no-records.ts';
import { createViolas } from './violas.ts';

const settings = { violaTimeout: 1_000, violaInsecureTls: false, authorities: systemAuthorities };
const log = createLogger({ part: 'test', level: 'silent' });
const deps = { clock: createFakeClock(), random: () => 0.5, log, records: noRecords };
const noSuchNode = { type: 'about:blank', title: 'Not Found', status: 404, detail: 'no node' };
const endpoint = {
  field: 'spec.settings.violaEndpoint',
  url: 'https://evil.org',
  trusted: false,
  compatibility: 'native',
} as const;

it('the operator’s token is not sent to an endpoint outside ALLOWED_ENDPOINTS', async () => {
  await using violas = createViolas({ ...settings, token: async () => 'secret' }, deps);
  await expect(violas.of(endpoint, 'biz-1', anOwner)).rejects.toThrow(
    'spec.settings.violaEndpoint: "https://evil.org" is not in the operator\'s ALLOWED_ENDPOINTS',
  );
  expect(await violas.of({ ...endpoint, trusted: true }, 'biz-1', anOwner)).toBeDefined();
});

it('no Viola is called while its certificate authority is missing', async () => {
  const none = new RequestError('no authority yet', { service: 'viola', kind: 'unauthorized' });
  const authorities = async () => Promise.reject(none);
  await using violas = createViolas({ ...settings, token: undefined, authorities }, deps);
  await expect(violas.of(endpoint, 'biz-1', anOwner)).rejects.toMatchObject({
    reason: 'ViolaPostError',
    message: 'viola: no authority yet',
  });
});

it('any endpoint is allowed when no token is configured', async () => {
  await using violas = createViolas({ ...settings, token: undefined }, deps);
  expect(await violas.of(endpoint, 'biz-1', anOwner)).toBeDefined();
});

it('a business cluster answers while all calls to another cluster hang', async () => {
  const server = createServer(({ headers }, response) => {
    if (headers['x-provider-id'] === 'biz-1') return;
    response.writeHead(404).end(JSON.stringify({ ...noSuchNode, code: 'NoSuchNode' }));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  const { port } = server.address() as AddressInfo;
  const here = { ...endpoint, url: `http://127.0.0.1:${port}` };
  await using violas = createViolas({ ...settings, token: undefined }, deps);
  const stop = new AbortController();
  const hung = Array.from({ length: 20 }, async () =>
    (await violas.of(here, 'biz-1', anOwner)).get('a', stop.signal),
  );
  const ended = Promise.allSettled(hung);
  const other = await violas.of(here, 'biz-2', anOwner);
  expect(await other.get('a', stop.signal)).toBeUndefined();
  stop.abort(new Error('enough'));
  await ended;
});

async function serve(listener: RequestListener) {
  const server = createServer(listener);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return { server, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` };
}

it('a request with the token does not follow a redirect', async () => {
  let connections = 0;
  const other = await serve((_, response) => response.end('{}'));
  other.server.on('connection', () => {
    connections += 1;
  });
  const { url } = await serve((_, response) => {
    response.writeHead(307, { location: `${other.url}/v1` }).end();
  });
  await using violas = createViolas({ ...settings, token: async () => 'secret' }, deps);
  const viola = await violas.of({ ...endpoint, url, trusted: true }, 'biz-1', anOwner);
  await expect(viola.get('a', AbortSignal.timeout(60_000))).rejects.toThrow(
    `answered 307, a redirect to ${other.url}, which is not followed`,
  );
  expect(connections).toBe(0);
});

it('the business clusters are read with the token, below the path in the endpoint', async () => {
  const item = {
    providerId: 'biz-1',
    server: 'https://k8s',
    reachable: true,
    checkedAt: '2026-01-01T00:00:00Z',
    message: '',
  };
  const asked: unknown[] = [];
  const { url } = await serve(({ url: path, headers }, response) => {
    asked.push([path, headers.authorization, headers['x-provider-id']]);
    response.end(JSON.stringify({ items: [item] }));
  });
  const signal = AbortSignal.timeout(60_000);
  await using violas = createViolas({ ...settings, token: async () => 'secret' }, deps);
  const trusted = { ...endpoint, url: `${url}/base/`, trusted: true };
  expect(await violas.clusters(trusted, signal)).toEqual([item]);
  expect(asked).toEqual([['/base/v1/k8s/clusters', 'Bearer secret', undefined]]);
  await expect(violas.clusters(endpoint, signal)).rejects.toMatchObject({ reason: 'PolicyDenied' });
});
