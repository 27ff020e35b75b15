import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { createFakeClock, type FakeClock } from '../../src/time/fake-clock.ts';
import { call, openWatch } from './http/call-in-test.ts';
import { type ApiServer, startApiServer } from './server.ts';

const maps = '/api/v1/namespaces/default/configmaps';
let server: ApiServer;
let clock: FakeClock;

beforeAll(async () => {
  clock = createFakeClock();
  server = await startApiServer({ clock });
});
afterAll(() => server.close());
afterEach(() => server.faults.clear());

let serial = 0;
let name = '';
beforeEach(() => {
  name = `map-${++serial}`;
});

function create(named = name) {
  return call(server.access, maps, {
    method: 'POST',
    body: { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: named } },
  });
}

async function stored(): Promise<boolean> {
  return (await call(server.access, `${maps}/${name}`)).status === 200;
}

async function revision(): Promise<string> {
  const { body } = await call(server.access, maps);
  return (body['metadata'] as { resourceVersion: string }).resourceVersion;
}

async function watchFrom(version: string, query = '') {
  return openWatch(server.access, `${maps}?watch=true&resourceVersion=${version}${query}`);
}

describe('faults', () => {
  it('answers so many matching requests with an error and Retry-After, then works', async () => {
    server.faults.answer({ verb: 'create', resource: 'configmaps', status: 429, retryAfter: 3 });
    const refused = await create();
    expect(refused.status).toBe(429);
    expect(refused.headers.get('retry-after')).toBe('3');
    expect(refused.body).toMatchObject({ kind: 'Status', details: { retryAfterSeconds: 3 } });
    expect((await create()).status).toBe(201);
  });

  it('loses a write before it took effect, or its answer after it did', async () => {
    server.faults.lose({ verb: 'create', when: 'before' });
    await expect(create()).rejects.toThrow();
    expect(await stored()).toBe(false);
    server.faults.lose({ verb: 'create', when: 'after' });
    await expect(create()).rejects.toThrow();
    expect(await stored()).toBe(true);
  });

  it('delays a request until its time has come', async () => {
    server.faults.delay({ verb: 'create', ms: 1000 });
    const created = create();
    while (clock.waits.length === 0) await new Promise((resolve) => setImmediate(resolve));
    expect(await stored()).toBe(false);
    await clock.advance(1000);
    expect((await created).status).toBe(201);
  });

  it('cuts open watches', async () => {
    const events = await watchFrom(await revision());
    expect(server.faults.dropWatches('pods')).toBe(0);
    expect(server.faults.dropWatches('configmaps')).toBe(1);
    await expect(events.next()).rejects.toThrow();
  });

  it('silences open and new watches without closing them', async () => {
    const from = await revision();
    const open = await watchFrom(from);
    server.faults.blackHoleWatches(true);
    const opened = await watchFrom(from);
    await create();
    server.faults.blackHoleWatches(false);
    const healthy = await watchFrom(from);
    expect(await healthy.next()).toMatchObject({ type: 'ADDED' });
    await create(`${name}-later`);
    expect(await healthy.next()).toMatchObject({ type: 'ADDED' });
    server.faults.dropWatches();
    await expect(open.next()).rejects.toThrow();
    await expect(opened.next()).rejects.toThrow();
  });

  it('forgets the past: an older watch and an older page get 410', async () => {
    await create();
    await create(`${name}-b`);
    const page = await call(server.access, `${maps}?limit=1`);
    const { continue: token, resourceVersion } = page.body['metadata'] as Record<string, string>;
    await create(`${name}-c`);
    server.faults.compact();
    const events = await watchFrom(resourceVersion ?? '');
    expect(await events.next()).toMatchObject({
      type: 'ERROR',
      object: { code: 410, reason: 'Expired' },
    });
    expect(await events.next()).toBeUndefined();
    const next = await call(server.access, `${maps}?limit=1&continue=${token}`);
    expect(next.body).toMatchObject({ code: 410, reason: 'Expired' });
    const fresh = (next.body['metadata'] as Record<string, string>)['continue'];
    expect((await call(server.access, `${maps}?continue=${fresh}`)).status).toBe(200);
  });

  it('drops, repeats and delays events, never out of order within a stream', async () => {
    const events = await watchFrom(await revision());
    const deliveries = ['drop', 'twice', { delayMs: 500 }, 'send'] as const;
    let next = 0;
    server.faults.onWatchEvent(() => deliveries[next++] ?? 'send');
    for (const suffix of ['a', 'b', 'c', 'd']) await create(`${name}-${suffix}`);
    const seen: (string | undefined)[] = [];
    for (let i = 0; i < 2; i++) seen.push((await events.next())?.object.metadata.name);
    await clock.advance(500);
    for (let i = 0; i < 2; i++) seen.push((await events.next())?.object.metadata.name);
    expect(seen).toEqual(['b', 'b', 'c', 'd'].map((suffix) => `${name}-${suffix}`));
  });
});

describe('a watch', () => {
  it('gets bookmarks at the current version and ends after its time', async () => {
    const from = await revision();
    const events = await watchFrom(from, '&allowWatchBookmarks=true&timeoutSeconds=8');
    await clock.advance(5000);
    expect(await events.next()).toMatchObject({
      type: 'BOOKMARK',
      object: { kind: 'ConfigMap', metadata: { resourceVersion: from } },
    });
    await clock.advance(3000);
    expect(await events.next()).toMatchObject({ type: 'BOOKMARK' });
    expect(await events.next()).toBeUndefined();
  });

  it('without a version starts with what is there', async () => {
    await create();
    const events = await openWatch(
      server.access,
      `${maps}?watch=true&fieldSelector=metadata.name%3D${name}`,
    );
    expect(await events.next()).toMatchObject({
      type: 'ADDED',
      object: { metadata: { name } },
    });
    server.faults.dropWatches();
  });
});
