import { createHash } from 'node:crypto';
import { Registry } from 'prom-client';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { about } from '../../test/fixtures/about.ts';
import { type InventoryChange, oldestHeader } from '../api/inventory-http.ts';
import type { InterfaceSpec } from '../api/multinicnodeconfig.ts';
import type { HttpServer } from '../http/app.ts';
import { createHttpServer } from '../http/server.ts';
import { createHealth } from '../process/health.ts';
import { createLogger } from '../process/log.ts';
import { Store } from '../store/store.ts';
import { systemClock } from '../time/clock.ts';
import { continueHeader } from './continue.ts';
import { serveInventory } from './routes.ts';

let app: HttpServer;
let store: Store;
let now: Date;
let unavailable: string | undefined;

const sha256 = (token: string) => createHash('sha256').update(token).digest('hex');
const grants = [
  { name: 'ui', sha256: sha256('ui'), providers: ['biz-1'], verbs: ['read' as const] },
  { name: 'two', sha256: sha256('two'), providers: ['biz-2'], verbs: ['read' as const] },
  { name: 'none', sha256: sha256('none'), providers: ['biz-9'], verbs: ['read' as const] },
];

function nic(n: number, address = `10.0.0.${n}`): InterfaceSpec {
  return {
    id: n,
    name: `multinic${n}`,
    portId: `p${n}`,
    macAddress: `fa:16:3e:00:00:0${n}`,
    address,
  };
}

async function deliver(providerId: string, generation: number, ...interfaces: InterfaceSpec[]) {
  now = new Date(now.getTime() + 60_000);
  const author = { namespace: 'multinic-system', name: 'demo', generation };
  const node = { nodeName: 'n1', instanceId: 's1', uid: 'u', generation };
  const bases = new Map([['n1', new Map([[nic(0).macAddress, 'evidence' as const]])]]);
  await store.record(providerId, author, [{ ...node, interfaces }], { bases });
}

beforeEach(async () => {
  now = new Date('2026-01-01T00:00:00Z');
  unavailable = undefined;
  store = await Store.open({ kind: 'sqlite', path: ':memory:' }, { now: () => now });
  app = await createHttpServer({
    title: 'Inventory',
    clock: systemClock,
    log: createLogger({ part: 'test', level: 'silent' }),
    health: createHealth(),
    about,
    registry: new Registry(),
    guardsHost: true,
  });
  serveInventory(app, {
    store,
    tokens: { current: async () => grants },
    unavailable: () => unavailable,
  });
  await deliver('biz-1', 1, nic(0)); // 00:01
  await deliver('biz-1', 2, nic(0, '10.0.0.99'), nic(1)); // 00:02
  await deliver('biz-1', 3, nic(1)); // 00:03
  await deliver('biz-2', 4, nic(2)); // 00:04
});

afterEach(async () => {
  await app.close();
  await store[Symbol.asyncDispose]();
});

interface From {
  readonly remoteAddress?: string;
  readonly token?: string;
  readonly host?: string;
}

async function get(query: string, { remoteAddress = '127.0.0.1', token, host }: From = {}) {
  const answer = await app.inject({
    url: `/v1/inventory/history${query}`,
    remoteAddress,
    headers: {
      ...(token ? { authorization: `Bearer ${token}` } : {}),
      ...(host ? { host } : {}),
    },
  });
  const body = answer.json<InventoryChange[] & { code?: string }>();
  const changes = Array.isArray(body)
    ? body.map(
        ({ change, portId, openstackConfig }) =>
          `${change} ${portId} ${openstackConfig.generation}`,
      )
    : [];
  const { [continueHeader]: next, [oldestHeader]: oldest } = answer.headers;
  return { status: answer.statusCode, body, changes, next, oldest };
}

describe('GET /v1/inventory/history', () => {
  it('[H5] history lists NIC changes newest first, with before, after and OpenstackConfig', async () => {
    const { status, body, changes } = await get('');
    expect(status).toBe(200);
    expect(changes).toEqual([
      'added p2 4',
      'removed p0 3',
      'added p1 2',
      'changed p0 2',
      'added p0 1',
    ]);
    expect(body[3]).toMatchObject({
      at: '2026-01-01T00:02:00.000Z',
      providerId: 'biz-1',
      nodeName: 'n1',
      name: 'multinic0',
      before: { address: '10.0.0.0' },
      after: { address: '10.0.0.99' },
      openstackConfig: { namespace: 'multinic-system', name: 'demo', generation: 2 },
    });
    expect(body[4]?.before).toBeUndefined();
    expect(body.map(({ basis = '' }) => basis)).toEqual(['', 'evidence', '', '', '']);
  });

  it.each([
    ['?providerId=biz-2', ['added p2 4']],
    ['?portId=p0', ['removed p0 3', 'changed p0 2', 'added p0 1']],
    ['?nodeName=n2', []],
    ['?since=2026-01-01T00:03:00Z', ['added p2 4', 'removed p0 3']],
    ['?since=2026-01-01T01:03:00%2B01:00&providerId=biz-1', ['removed p0 3']],
  ])('[W18] history applies the filter %s', async (query, expected) => {
    expect((await get(query)).changes).toEqual(expected);
  });

  it("[P7] history pages follow the previous page's continue header", async () => {
    const first = await get('?limit=2&providerId=biz-1');
    expect(first.changes).toEqual(['removed p0 3', 'added p1 2']);
    const second = await get(`?limit=2&providerId=biz-1&continue=${String(first.next)}`);
    expect(second.changes).toEqual(['changed p0 2', 'added p0 1']);
    const third = await get(`?limit=2&providerId=biz-1&continue=${String(second.next)}`);
    expect(third).toMatchObject({ changes: [], next: undefined });
  });

  it.each([
    '?nodename=n1',
    '?provider=biz-1',
    '?portId[]=p0',
    '?limit=0',
    '?since=soon',
    '?continue=x',
  ])('[H5] history refuses the invalid query %s', async (query) => {
    expect((await get(query)).status).toBe(400);
  });

  it.each([
    ['', {}, '2026-01-01T00:01:00.000Z'],
    ['?since=2026-01-01T00:03:00Z&providerId=biz-2', {}, '2026-01-01T00:01:00.000Z'],
    ['', { remoteAddress: '10.0.0.9', token: 'two' }, '2026-01-01T00:04:00.000Z'],
    ['', { remoteAddress: '10.0.0.9', token: 'none' }, undefined],
  ])('history %j reports its oldest change in x-oldest', async (query, from, oldest) => {
    expect(await get(query, from)).toMatchObject({ status: 200, oldest });
  });

  it("[H5] history shows only the token's business clusters, and nothing without a token", async () => {
    const elsewhere = { remoteAddress: '10.0.0.9' };
    expect((await get('', { ...elsewhere, token: 'ui' })).changes).not.toContain('added p2 4');
    expect((await get('?providerId=biz-2', { ...elsewhere, token: 'ui' })).changes).toEqual([]);
    expect((await get('', elsewhere)).status).toBe(401);
  });

  it('[H5] history answers 503 while another replica leads', async () => {
    unavailable = 'another replica leads';
    expect((await get('')).status).toBe(503);
  });
});

describe('loopback caller', () => {
  it.each(['localhost:28081', '127.0.0.1:18081', '127.9.9.9', '[::1]:18081', 'LOCALHOST'])(
    '[P5] a loopback caller may read with Host %s',
    async (host) => {
      expect((await get('', { host })).status).toBe(200);
    },
  );

  it.each([
    'evil.example:18081',
    'multinic-operator-inventory',
    '10.0.0.5:18081',
    'localhost.evil.example',
  ])('[P5] a loopback caller without a token is refused with Host %s', async (host) => {
    const { status, body } = await get('', { host });
    expect(status).toBe(421);
    expect(body).toMatchObject({ code: 'HostNotLoopback', status: 421 });
  });

  it.each([
    '/docs',
    '/openapi.json',
    '/version',
    '/metrics',
    '/configz',
    '/v1/interfaces/providers',
    '/nothing',
  ])('[P5] a loopback caller is refused at %s with a foreign Host', async (url) => {
    const headers = { host: 'evil.example' };
    const { statusCode } = await app.inject({ url, headers, remoteAddress: '127.0.0.1' });
    expect(statusCode).toBe(421);
  });

  it.each(['/metrics', '/version', '/openapi.json', '/docs'])(
    '[P5] a loopback caller is refused at %s with a foreign Host and an invented token',
    async (url) => {
      const headers = { host: 'evil.example', authorization: 'Bearer x' };
      const { statusCode } = await app.inject({ url, headers, remoteAddress: '127.0.0.1' });
      expect(statusCode).toBe(421);
    },
  );

  it("[P5] a loopback caller with a foreign Host and a valid token reads only the token's clusters", async () => {
    const host = 'multinic-operator-inventory.multinic-operator-system';
    const { status, changes } = await get('', { host, token: 'ui' });
    expect(status).toBe(200);
    expect(changes).not.toContain('added p2 4');
    expect((await get('', { host, token: 'unknown' })).status).toBe(401);
  });

  it('[P5] a remote caller may use Service names and Pod IPs as Host', async () => {
    const from = { remoteAddress: '10.0.0.9', token: 'ui' };
    for (const host of ['multinic-operator-inventory', '10.0.0.5:18081']) {
      expect((await get('', { ...from, host })).status).toBe(200);
    }
  });
});
