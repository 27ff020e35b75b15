import { createHash } from 'node:crypto';
import { Registry } from 'prom-client';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { about } from '../../test/fixtures/about.ts';
import { type InventoryRecord, inventoryPath } from '../api/inventory-http.ts';
import { specHash } from '../api/spec-hash.ts';
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
let unavailable: string | undefined;

const sha256 = (token: string) => createHash('sha256').update(token).digest('hex');
const grants = [
  { name: 'ui', sha256: sha256('ui'), providers: ['biz-1'], verbs: ['read' as const] },
  { name: 'writer', sha256: sha256('writer'), providers: ['*'], verbs: ['write' as const] },
];

async function deliver(providerId: string, ...nodeNames: string[]): Promise<void> {
  const author = { namespace: 'multinic-system', name: 'demo', generation: 1 };
  const nodes = nodeNames.map((nodeName) => ({
    nodeName,
    instanceId: `server-${nodeName}`,
    interfaces: [],
    uid: `uid-${nodeName}`,
    generation: 1,
  }));
  await store.record(providerId, author, nodes);
}

beforeEach(async () => {
  store = await Store.open({ kind: 'sqlite', path: ':memory:' }, { now: () => new Date() });
  app = await createHttpServer({
    title: 'Inventory',
    clock: systemClock,
    log: createLogger({ part: 'test', level: 'silent' }),
    health: createHealth(),
    about,
    registry: new Registry(),
  });
  unavailable = undefined;
  serveInventory(app, {
    store,
    tokens: { current: async () => grants },
    unavailable: () => unavailable,
  });
  await deliver('biz-2', 'n1');
  await deliver('biz-1', 'n2', 'n1');
});

afterEach(async () => {
  await app.close();
  await store[Symbol.asyncDispose]();
});

interface From {
  readonly remoteAddress?: string;
  readonly token?: string;
}

async function get(path: string, { remoteAddress = '127.0.0.1', token }: From = {}) {
  const answer = await app.inject({
    url: `/v1/inventory/node-configs${path}`,
    remoteAddress,
    headers: token ? { authorization: `Bearer ${token}` } : {},
  });
  const body = answer.json<InventoryRecord[]>();
  const names = Array.isArray(body)
    ? body.map(({ providerId, nodeName }) => `${providerId}/${nodeName}`)
    : [];
  const { [continueHeader]: next, 'retry-after': retryAfter } = answer.headers;
  return { status: answer.statusCode, names, next, retryAfter };
}

describe('GET /v1/inventory/node-configs', () => {
  it.each([
    ['', ['biz-1/n1', 'biz-1/n2', 'biz-2/n1']],
    ['?providerId=biz-1', ['biz-1/n1', 'biz-1/n2']],
    ['?nodeName=n1&providerId=biz-2', ['biz-2/n1']],
    ['?instanceId=server-n2', ['biz-1/n2']],
    ['?providerId=unknown', []],
  ])('the list answers %s in a stable order', async (query, names) => {
    expect(await get(query)).toMatchObject({ status: 200, names });
  });

  it('the list is served over a connection without a Node.js warning', async () => {
    const warnings: Error[] = [];
    const note = (warning: Error) => void warnings.push(warning);
    process.on('warning', note);
    const url = await app.listen({ host: '127.0.0.1', port: 0 });
    await (await fetch(`${url}${inventoryPath}`)).text();
    process.off('warning', note);
    expect(warnings).toEqual([]);
  });

  it("list pages follow the previous page's continue header", async () => {
    const first = await get('?limit=2');
    expect(first.names).toEqual(['biz-1/n1', 'biz-1/n2']);
    const second = await get(`?limit=2&continue=${String(first.next)}`);
    expect([second.names, second.next]).toEqual([['biz-2/n1'], undefined]);
  });

  it('the list answers 503 while another replica leads', async () => {
    unavailable = 'another replica of the operator leads';
    expect((await get('')).status).toBe(503);
    expect((await get('/n1')).status).toBe(503);
  });

  it('the continue token names only records visible to the caller', async () => {
    await deliver('biz-0', 'secret');
    const from = { remoteAddress: '10.0.0.9', token: 'ui' };
    const first = await get('?limit=1', from);
    expect(first.names).toEqual(['biz-1/n1']);
    const place = Buffer.from(String(first.next), 'base64url').toString('utf8');
    expect(JSON.parse(place)).toEqual(['biz-1', 'n1']);
    const rest = await get(`?limit=5&continue=${String(first.next)}`, from);
    expect(rest).toMatchObject({ names: ['biz-1/n2'], next: undefined });
  });

  describe('[W3] list with 1,000 nodes', () => {
    const nodeNames = Array.from({ length: 1_000 }, (_, n) => `many-${String(n).padStart(4, '0')}`);
    let sizes: number[];

    beforeEach(async () => {
      await deliver('biz-3', ...nodeNames);
      sizes = [];
      const list = store.list.bind(store);
      store.list = async (filter) => {
        const found = await list(filter);
        sizes.push(found.length);
        return found;
      };
    });

    it('[W3] a list with 1,000 nodes is complete and reads at most 200 rows per query', async () => {
      const all = nodeNames.map((name) => `biz-3/${name}`);
      expect(await get('?providerId=biz-3')).toMatchObject({ names: all, next: undefined });
      expect(Math.max(...sizes)).toBe(200);
      const page = await get('?providerId=biz-3&limit=700');
      expect(page.names).toEqual(all.slice(0, 700));
      const rest = await get(`?providerId=biz-3&limit=700&continue=${String(page.next)}`);
      expect(rest).toMatchObject({ names: all.slice(700), next: undefined });
      expect(Math.max(...sizes)).toBe(200);
    });

    it('[W3] a fifth concurrent long list gets 503, while short lists and later long lists are served', async () => {
      const readers = await Promise.all(Array.from({ length: 6 }, () => get('?providerId=biz-3')));
      const refused = readers.filter(({ status }) => status === 503);
      expect(refused.map(({ retryAfter }) => retryAfter)).toEqual(['5', '5']);
      expect(readers.filter(({ names }) => names.length === 1_000)).toHaveLength(4);
      expect(await get('?providerId=biz-1')).toMatchObject({ status: 200 });
      expect((await get('?providerId=biz-3')).names).toHaveLength(1_000);
    });
  });

  it.each([
    'providerId[]=biz-1',
    'nodename=n1',
    'instance_id=s',
    'providerId=a&providerId=b',
    'Limit=1',
  ])(
    '[W19] the misspelt filter ?%s is refused, because ignoring the filter would return everything',
    async (query) => {
      expect((await get(`?${query}`)).status).toBe(400);
      expect((await get('?verbose=1')).status).toBe(200);
    },
  );

  it('an invalid limit and an invalid continue token are refused', async () => {
    expect((await get('?limit=0')).status).toBe(400);
    expect((await get('?continue=x')).status).toBe(400);
  });
});

describe('GET /v1/inventory/node-configs/{nodeName}', () => {
  it('GET by node name returns the node from all clusters or one cluster, else 404', async () => {
    expect((await get('/n1')).names).toEqual(['biz-1/n1', 'biz-2/n1']);
    expect((await get('/n1?providerId=biz-2')).names).toEqual(['biz-2/n1']);
    expect((await get('/n9')).status).toBe(404);
  });
});

describe('observed port data', () => {
  it('observed port data are added to each NIC, while the rest stays as delivered', async () => {
    const entry = { id: 0, name: 'multinic0', portId: 'p0', macAddress: 'fa:16:3e:00:00:00' };
    const interfaces = [{ ...entry, subnetId: 'sub', networkId: 'net' }];
    const port = { status: 'DOWN', addresses: [], createdAt: '2026-01-02T00:00:00Z' };
    const subnet = { id: 'sub', name: 'storage', cidr: '10.0.0.0/24', networkId: 'net' };
    const author = { namespace: 'multinic-system', name: 'seen', generation: 1 };
    const node = { nodeName: 'seen', instanceId: 's', interfaces, uid: 'u', generation: 1 };
    const sighting = {
      ports: new Map([['p0', port]]),
      subnets: new Map([['sub', { ...subnet, networkName: 'data' }]]),
      configured: new Set<string>(),
      specHash: '',
    };
    await store.record('biz-1', author, [node], { sighting });
    const answers = await Promise.all(
      [`${inventoryPath}/seen`, `${inventoryPath}?nodeName=seen`].map(async (url) =>
        app.inject(url),
      ),
    );
    const observedFields = {
      subnetName: 'storage',
      networkName: 'data',
      portStatus: 'DOWN',
      createdAt: '2026-01-02T00:00:00.000Z',
    };
    for (const answer of answers) {
      const [record] = answer.json<InventoryRecord[]>();
      expect(record?.config.interfaces).toEqual([{ ...interfaces[0], ...observedFields }]);
    }
    const [delivered] = (await app.inject('/v1/interfaces/node-configs/by-instance/s')).json<
      InventoryRecord[]
    >();
    const config = { nodeName: 'seen', instanceId: 's', interfaces };
    expect(delivered).toEqual({
      providerId: 'biz-1',
      nodeName: 'seen',
      instanceId: 's',
      config,
      lastConfigHash: specHash(config),
      updatedAt: delivered?.updatedAt,
    });
  });
});

const ask = async (path: string) => app.inject(`/v1/interfaces/${path}`);

function namesIn(answer: Awaited<ReturnType<typeof ask>>): string[] {
  const records = answer.json<InventoryRecord[]>();
  return records.map(({ providerId, nodeName }) => `${providerId}/${nodeName}`);
}

function nodeOf(nodeName: string, updatedAt: string | undefined) {
  return { nodeName, instanceId: `server-${nodeName}`, interfaceCount: 0, updatedAt };
}

describe('newer routes', () => {
  it('the provider list contains nodes and is paged by cluster', async () => {
    const all = (await ask('providers')).json<{ providers: { updatedAt: string }[] }>();
    const [first, second] = all.providers;
    expect(all).toEqual({
      providers: [
        {
          providerId: 'biz-1',
          nodeCount: 2,
          updatedAt: first?.updatedAt,
          nodes: [
            { providerId: 'biz-1', ...nodeOf('n1', first?.updatedAt) },
            { providerId: 'biz-1', ...nodeOf('n2', first?.updatedAt) },
          ],
        },
        {
          providerId: 'biz-2',
          nodeCount: 1,
          updatedAt: second?.updatedAt,
          nodes: [{ providerId: 'biz-2', ...nodeOf('n1', second?.updatedAt) }],
        },
      ],
    });
    const page = await ask('providers?limit=1');
    expect(page.json()).toEqual({ providers: [first] });
    const next = await ask(`providers?limit=1&continue=${String(page.headers[continueHeader])}`);
    expect(next.json()).toEqual({ providers: [second] });
    const end = await ask(`providers?limit=1&continue=${String(next.headers[continueHeader])}`);
    expect([end.json(), end.headers[continueHeader]]).toEqual([{ providers: [] }, undefined]);
  });

  it('the node list requires providerId and is paged', async () => {
    expect(namesIn(await ask('node-configs?providerId=biz-1'))).toEqual(['biz-1/n1', 'biz-1/n2']);
    expect((await ask('node-configs?providerId=unknown')).json()).toEqual([]);
    const page = await ask('node-configs?providerId=biz-1&limit=1');
    const token = String(page.headers[continueHeader]);
    const rest = await ask(`node-configs?providerId=biz-1&limit=9&continue=${token}`);
    expect([namesIn(page), namesIn(rest)]).toEqual([['biz-1/n1'], ['biz-1/n2']]);
    for (const query of ['', '?providerId=', '?limit=1']) {
      const answer = await ask(`node-configs${query}`);
      expect(answer.statusCode).toBe(400);
      expect(answer.headers['content-type']).toContain('application/problem+json');
      expect(answer.json<{ detail: string }>().detail).toContain('providerId');
    }
  });

  it('GET by instance id returns the node from all clusters or one cluster, else 404', async () => {
    const of = 'node-configs/by-instance';
    expect(namesIn(await ask(`${of}/server-n1`))).toEqual(['biz-1/n1', 'biz-2/n1']);
    expect(namesIn(await ask(`${of}/server-n1?providerId=biz-2`))).toEqual(['biz-2/n1']);
    const page = await ask(`${of}/server-n1?limit=1`);
    const token = String(page.headers[continueHeader]);
    expect(namesIn(await ask(`${of}/server-n1?limit=1&continue=${token}`))).toEqual(['biz-2/n1']);
    expect((await ask(`${of}/server-n9`)).json()).toMatchObject({ status: 404 });
    expect((await ask(`${of}/server-n2?providerId=biz-2`)).statusCode).toBe(404);
    expect((await ask(`${of}/`)).statusCode).toBe(400);
  });

  it('the newer routes answer 503 while another replica leads', async () => {
    unavailable = 'another replica of the operator leads';
    for (const path of [
      'providers',
      'node-configs?providerId=biz-1',
      'node-configs/by-instance/s',
    ]) {
      expect((await ask(path)).statusCode).toBe(503);
    }
  });
});

describe('read authorization', () => {
  const elsewhere = { remoteAddress: '10.0.0.7' };
  it('a loopback caller may read without a token', async () => {
    expect((await get('')).status).toBe(200);
  });

  it('a remote caller needs a token with verb read and sees only its providers', async () => {
    expect((await get('', elsewhere)).status).toBe(401);
    expect((await get('', { ...elsewhere, token: 'writer' })).status).toBe(403);
    expect(await get('', { ...elsewhere, token: 'ui' })).toMatchObject({
      status: 200,
      names: ['biz-1/n1', 'biz-1/n2'],
    });
    expect((await get('/n1?providerId=biz-2', { ...elsewhere, token: 'ui' })).status).toBe(404);
  });
});
