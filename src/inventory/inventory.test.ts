import { createHash } from 'node:crypto';
import { Registry } from 'prom-client';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { about } from '../../test/beds/about.ts';
import type { InventoryRecord } from '../api/inventory-http.ts';
import type { HttpServer } from '../http/app.ts';
import { createHttpServer } from '../http/server.ts';
import { createHealth } from '../process/health.ts';
import { createLogger } from '../process/log.ts';
import { Store } from '../store/store.ts';
import { systemClock } from '../time/clock.ts';
import { continueHeader, serveInventory } from './routes.ts';

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
  return { status: answer.statusCode, names, next: answer.headers[continueHeader] };
}

describe('GET /v1/inventory/node-configs', () => {
  it.each([
    ['', ['biz-1/n1', 'biz-1/n2', 'biz-2/n1']],
    ['?providerId=biz-1', ['biz-1/n1', 'biz-1/n2']],
    ['?nodeName=n1&providerId=biz-2', ['biz-2/n1']],
    ['?instanceId=server-n2', ['biz-1/n2']],
    ['?providerId=unknown', []],
  ])('answers %s in a stable order', async (query, names) => {
    expect(await get(query)).toMatchObject({ status: 200, names });
  });

  it('pages by the header of the page before', async () => {
    const first = await get('?limit=2');
    expect(first.names).toEqual(['biz-1/n1', 'biz-1/n2']);
    const second = await get(`?limit=2&continue=${String(first.next)}`);
    expect([second.names, second.next]).toEqual([['biz-2/n1'], undefined]);
  });

  it('answers 503 while another replica leads', async () => {
    unavailable = 'another replica of the operator leads';
    expect((await get('')).status).toBe(503);
    expect((await get('/n1')).status).toBe(503);
  });

  it('are of what the caller may see: no place in them tells of others', async () => {
    await deliver('biz-0', 'secret');
    const from = { remoteAddress: '10.0.0.9', token: 'ui' };
    const first = await get('?limit=1', from);
    expect(first.names).toEqual(['biz-1/n1']);
    const place = Buffer.from(String(first.next), 'base64url').toString('utf8');
    expect(JSON.parse(place)).toEqual(['biz-1', 'n1']);
    const rest = await get(`?limit=5&continue=${String(first.next)}`, from);
    expect(rest).toMatchObject({ names: ['biz-1/n2'], next: undefined });
  });

  it('refuses a limit or a continue that is none', async () => {
    expect((await get('?limit=0')).status).toBe(400);
    expect((await get('?continue=x')).status).toBe(400);
  });
});

describe('GET /v1/inventory/node-configs/{nodeName}', () => {
  it('answers the node of every cluster, or of one, or 404', async () => {
    expect((await get('/n1')).names).toEqual(['biz-1/n1', 'biz-2/n1']);
    expect((await get('/n1?providerId=biz-2')).names).toEqual(['biz-2/n1']);
    expect((await get('/n9')).status).toBe(404);
  });
});

describe('who may read', () => {
  const elsewhere = { remoteAddress: '10.0.0.7' };
  it('lets this machine read without a token', async () => {
    expect((await get('')).status).toBe(200);
  });

  it('asks others for a token that may read, and shows its providers only', async () => {
    expect((await get('', elsewhere)).status).toBe(401);
    expect((await get('', { ...elsewhere, token: 'writer' })).status).toBe(403);
    expect(await get('', { ...elsewhere, token: 'ui' })).toMatchObject({
      status: 200,
      names: ['biz-1/n1', 'biz-1/n2'],
    });
    expect((await get('/n1?providerId=biz-2', { ...elsewhere, token: 'ui' })).status).toBe(404);
  });
});
