import { createHash, createHmac } from 'node:crypto';
import { Registry } from 'prom-client';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import * as z from 'zod';
import { clusters } from '../../../src/api/node-configs-http.ts';
import { signatureHeader, timestampHeader, triggerPath } from '../../../src/api/trigger-http.ts';
import type { HttpServer } from '../../../src/http/app.ts';
import { createHttpServer } from '../../../src/http/server.ts';
import { serveInventory } from '../../../src/inventory/routes.ts';
import type { KubeClient } from '../../../src/kube/client/client.ts';
import { createHealth } from '../../../src/process/health.ts';
import { createLogger } from '../../../src/process/log.ts';
import { Store } from '../../../src/store/store.ts';
import { systemClock } from '../../../src/time/clock.ts';
import { about } from '../../fixtures/about.ts';
import { openTriggerFixture } from '../../fixtures/triggers.ts';
import { ViolaFixture } from '../../fixtures/viola.ts';

const document = z.object({ paths: z.record(z.string(), z.record(z.string(), z.unknown())) });

/** `METHOD path` for each operation in a server's OpenAPI document. */
async function operations(app: HttpServer): Promise<string[]> {
  const { paths } = document.parse((await app.inject('/openapi.json')).json());
  return Object.entries(paths)
    .flatMap(([path, methods]) => Object.keys(methods).map((m) => `${m.toUpperCase()} ${path}`))
    .toSorted();
}

const path = '/v1/k8s/multinic/node-configs';
const node = { nodeName: 'n1', interfaces: [] };

/** Callers: no token, an unknown token, and tokens that may read all, write biz-1, delete biz-1, do everything, do everything in biz-2. */
const tokens = ['', 'guess', 'ro', 'w', 'd', 'rw', 'other'] as const;
type Row = readonly [provider: string, ...statuses: readonly number[]];

interface Route {
  readonly url: string;
  /** POST body (default: one node). */
  readonly body?: unknown;
  readonly rows: readonly Row[];
}

/**
 * Status per caller: 200, or 404 for a missing node, means authorised. biz-2 is registered too, biz-9 is not, and `-` names no provider.
 */
const viola: Readonly<Record<string, Route>> = {
  [`POST ${path}`]: {
    url: path,
    rows: [
      ['biz-1', 401, 401, 403, 200, 403, 200, 403],
      ['biz-2', 401, 401, 403, 403, 403, 200, 200],
      ['biz-9', 401, 401, 403, 403, 403, 404, 403],
      ['-', 401, 401, 400, 400, 400, 400, 400],
    ],
  },
  [`POST ${path}/dry-run`]: {
    url: `${path}/dry-run`,
    rows: [
      ['biz-1', 401, 401, 403, 200, 403, 200, 403],
      ['biz-2', 401, 401, 403, 403, 403, 200, 200],
      ['biz-9', 401, 401, 403, 403, 403, 404, 403],
      ['-', 401, 401, 400, 400, 400, 400, 400],
    ],
  },
  [`POST ${path}/{node}/check`]: {
    url: `${path}/nobody/check`,
    body: { id: '1' },
    rows: [
      ['biz-1', 401, 401, 403, 404, 403, 404, 403],
      ['biz-2', 401, 401, 403, 403, 403, 404, 404],
      ['-', 401, 401, 400, 400, 400, 400, 400],
    ],
  },
  [`GET ${path}`]: {
    url: path,
    rows: [
      ['biz-1', 401, 401, 200, 403, 403, 200, 403],
      ['biz-2', 401, 401, 200, 403, 403, 200, 200],
      ['biz-9', 401, 401, 404, 403, 403, 404, 403],
      ['-', 401, 401, 400, 400, 400, 400, 400],
    ],
  },
  [`GET ${path}/{node}`]: {
    url: `${path}/nobody`,
    rows: [
      ['biz-1', 401, 401, 404, 403, 403, 404, 403],
      ['biz-2', 401, 401, 404, 403, 403, 404, 404],
      ['-', 401, 401, 400, 400, 400, 400, 400],
    ],
  },
  [`DELETE ${path}/{node}`]: {
    url: `${path}/nobody`,
    rows: [
      ['biz-1', 401, 401, 403, 403, 404, 404, 403],
      ['biz-2', 401, 401, 403, 403, 403, 404, 404],
      ['-', 401, 401, 400, 400, 400, 400, 400],
    ],
  },
  'GET /v1/k8s/clusters': {
    url: '/v1/k8s/clusters',
    rows: [['-', 401, 401, 200, 200, 200, 200, 200]],
  },
};

describe('Viola', () => {
  let bed: ViolaFixture;

  beforeAll(async () => {
    bed = await ViolaFixture.start();
    await bed.register('biz-2', await bed.api.kubeconfig());
  });

  afterAll(() => bed[Symbol.asyncDispose]());

  it('the table has a row for each documented route of Viola', async () => {
    await expect.poll(() => bed.providers).toContain('biz-2');
    expect(await operations(bed.app)).toEqual(Object.keys(viola).toSorted());
  });

  const cases = Object.entries(viola).flatMap(([route, { url, body, rows }]) =>
    rows.map(([provider, ...statuses]) => ({ route, url, body, provider, statuses })),
  );

  it.each(cases)(
    '$route for $provider',
    async ({ route, url, body = [node], provider, statuses }) => {
      const method = route.split(' ')[0] as 'GET' | 'POST' | 'DELETE';
      const seen: number[] = [];
      for (const token of tokens) {
        await bed.reset();
        const options = { token, provider: provider === '-' ? '' : provider };
        const sent = method === 'POST' ? body : undefined;
        seen.push((await bed.call(method, url, options, sent)).status);
      }
      expect(seen).toEqual(statuses);
    },
  );

  it('each token sees only the clusters with its providers', async () => {
    for (const [token, providers] of [
      ['rw', ['biz-1', 'biz-2']],
      ['w', ['biz-1']],
      ['other', ['biz-2']],
    ] as const) {
      const { body } = await bed.get('/v1/k8s/clusters', { token });
      const { items } = clusters.parse(body);
      expect(items.map(({ providerId }) => providerId)).toEqual(providers);
    }
  });
});

const inventoryPath = '/v1/inventory/node-configs';
/** Providers with visible records for node n1, or the status of the refusal. */
const inventory: Readonly<Record<string, string>> = {
  [`GET ${inventoryPath}`]: inventoryPath,
  [`GET ${inventoryPath}/{nodeName}`]: `${inventoryPath}/n1`,
  'GET /v1/inventory/history': '/v1/inventory/history',
  'GET /v1/interfaces/providers': '/v1/interfaces/providers',
  // The caller sees a single provider, so each provider is requested.
  'GET /v1/interfaces/node-configs': '/v1/interfaces/node-configs?providerId=PROVIDER',
  'GET /v1/interfaces/node-configs/by-instance/{instanceId}':
    '/v1/interfaces/node-configs/by-instance/s',
};
const from = {
  here: '127.0.0.1',
  hereMapped: '::ffff:127.0.0.1',
  elsewhere: '10.0.0.7',
  elsewhereMapped: '::ffff:10.0.0.7',
};
const readers: readonly (readonly [keyof typeof from, string, number | readonly string[]])[] = [
  ['here', '', ['biz-1', 'biz-2']],
  ['hereMapped', '', ['biz-1', 'biz-2']],
  ['elsewhere', '', 401],
  ['elsewhereMapped', '', 401],
  ['elsewhere', 'guess', 401],
  ['elsewhere', 'reader', ['biz-1']],
  ['elsewhereMapped', 'reader', ['biz-1']],
  ['elsewhere', 'writer', 403],
  ['elsewhere', 'all', ['biz-1', 'biz-2']],
];

describe('the inventory', () => {
  let app: HttpServer;
  let store: Store;

  beforeAll(async () => {
    store = await Store.open({ kind: 'sqlite', path: ':memory:' }, { now: () => new Date() });
    app = await createHttpServer({
      title: 'Inventory',
      clock: systemClock,
      log: createLogger({ part: 'test', level: 'silent' }),
      health: createHealth(),
      about,
      registry: new Registry(),
    });
    const grants = [
      grant('reader', 'biz-1', 'read'),
      grant('writer', '*', 'write'),
      grant('all', '*', 'read'),
    ];
    serveInventory(app, {
      store,
      tokens: { current: async () => grants },
      unavailable: () => undefined,
    });
    for (const provider of ['biz-1', 'biz-2']) {
      const author = { namespace: 'ns', name: 'demo', generation: 1 };
      const delivered = { instanceId: 's', uid: 'u', generation: 1 };
      const interfaces = [{ id: 0, macAddress: 'fa:16:3e:00:00:01' }];
      await store.record(provider, author, [{ ...node, ...delivered, interfaces }]);
    }
  });

  afterAll(async () => {
    await app.close();
    await store[Symbol.asyncDispose]();
  });

  it('the table has a row for each documented route of the inventory', async () => {
    expect(await operations(app)).toEqual(Object.keys(inventory).toSorted());
  });

  const cases = Object.entries(inventory).flatMap(([route, url]) =>
    readers.map(([place, token, seen]) => ({ route, url, place, token, seen })),
  );

  it.each(cases)('$route from $place with "$token"', async ({ url, place, token, seen }) => {
    const ask = async (provider: string) =>
      app.inject({
        url: url.replace('PROVIDER', provider),
        remoteAddress: from[place],
        headers: {
          // Any remote caller can write this header.
          ...(place.startsWith('elsewhere') && { 'x-forwarded-for': '127.0.0.1' }),
          ...(token ? { authorization: `Bearer ${token}` } : {}),
        },
      });
    const [first, second] = [await ask('biz-1'), await ask('biz-2')];
    const shown = [...providersIn(first.json()), ...providersIn(second.json())];
    const providers = [...new Set(shown)].toSorted();
    expect(first.statusCode === 200 ? providers : first.statusCode).toEqual(seen);
    expect(second.statusCode).toBe(first.statusCode);
  });
});

type Shown = readonly { readonly providerId: string }[];

function providersIn(body: Shown | { readonly providers?: Shown }): string[] {
  const items = 'map' in body ? body : (body.providers ?? []);
  return items.map(({ providerId }) => providerId);
}

const triggerUrl = `${triggerPath}/multinic-system/osc`;
const hmacKey = '0123456789abcdef';
/** Status per token for every provider: an OpenstackConfig may name any provider. */
const triggers: Readonly<Record<string, { readonly url: string; readonly statuses: number[] }>> = {
  [`POST ${triggerPath}/{namespace}/{name}`]: {
    url: triggerUrl,
    statuses: [401, 401, 403, 403, 403, 202, 403],
  },
};

describe('the trigger endpoint', () => {
  const patch = (async () => ({})) as unknown as KubeClient['patch'];
  const keys = async () => [hmacKey];

  it('the table has a row for each documented route of the operator', async () => {
    const { app } = await openTriggerFixture({ patch });
    expect(await operations(app)).toEqual(Object.keys(triggers).toSorted());
  });

  it.each(['biz-1', 'biz-2', '-'])('with a token, for %s', async (provider) => {
    for (const { url, statuses } of Object.values(triggers)) {
      const { app } = await openTriggerFixture({ patch, keys });
      const seen: number[] = [];
      for (const token of tokens) {
        const headers = {
          ...(token ? { authorization: `Bearer ${token}` } : {}),
          ...(provider === '-' ? {} : { 'x-provider-id': provider }),
        };
        seen.push((await app.inject({ method: 'POST', url, headers })).statusCode);
      }
      expect(seen).toEqual(statuses);
    }
  });

  it.each([
    ['our key', hmacKey, '', 202],
    ['our key, and an unknown token', hmacKey, 'guess', 202],
    ['a foreign key', 'fedcba9876543210', '', 401],
    ['a foreign key, and our token', 'fedcba9876543210', 'rw', 401],
  ])('with a signature by %s', async (_whose, by, token, status) => {
    const { app } = await openTriggerFixture({ patch, keys });
    const timestamp = `${Math.floor(Date.now() / 1000)}`;
    const hmac = createHmac('sha256', by).update(`${timestamp}\nPOST\n${triggerUrl}\n`);
    const headers = {
      [timestampHeader]: timestamp,
      [signatureHeader]: `sha256=${hmac.digest('hex')}`,
      ...(token ? { authorization: `Bearer ${token}` } : {}),
    };
    expect((await app.inject({ method: 'POST', url: triggerUrl, headers })).statusCode).toBe(
      status,
    );
  });
});

function grant(name: string, provider: string, verb: 'read' | 'write') {
  const sha256 = createHash('sha256').update(name).digest('hex');
  return { name, sha256, providers: [provider], verbs: [verb] };
}
