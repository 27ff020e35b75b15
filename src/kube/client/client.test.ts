import { describe, expect, test } from 'vitest';
import { until } from '../../time/fake-clock.ts';
import { configMaps, nodes } from '../core-resources.ts';
import { answer, refuse, type Script } from '../testing/scripted-server.ts';
import type { KubeClient } from './client.ts';
import { bench, errorOf, one, ref } from './client-in-test.ts';

describe('client requests', () => {
  test('requests contain object path, token and user agent', async () => {
    const access = { token: () => Promise.resolve('t0ken') };
    const { client, server } = await bench((_, response) => answer(response, 200, one), {
      access,
      userAgent: 'tester',
    });
    expect(await client.get(configMaps, ref)).toMatchObject(one);
    expect(server.requests[0]).toMatchObject({
      method: 'GET',
      path: '/api/v1/namespaces/ns/configmaps/one',
    });
    expect(server.requests[0]?.headers).toMatchObject({
      authorization: 'Bearer t0ken',
      'user-agent': 'tester',
      accept: 'application/json',
    });
  });

  test('list requests contain limit, continue token and selectors', async () => {
    const list = { metadata: { resourceVersion: '9' }, items: null };
    const { client, server } = await bench((_, response) => answer(response, 200, list));
    const selection = { labelSelector: 'a=b', fieldSelector: 'metadata.name=x' };
    const listed = await client.list(configMaps, {
      namespace: 'ns',
      ...selection,
      limit: 5,
      continue: 'c',
    });
    expect(listed).toEqual({ items: [], resourceVersion: '9' });
    expect(Object.fromEntries(server.requests[0]?.query ?? [])).toEqual({
      ...selection,
      limit: '5',
      continue: 'c',
    });
  });

  test('create, apply and patch send their method, content type and query', async () => {
    const { client, server } = await bench((_, response) => answer(response, 200, one));
    const object = { metadata: ref, data: { a: '1' } };
    await client.create(configMaps, object, { fieldManager: 'me', dryRun: true });
    await client.apply(configMaps, object, { fieldManager: 'me', force: true });
    await client.applyStatus(configMaps, object, { fieldManager: 'me' });
    await client.patch(configMaps, ref, { data: null });
    await client.patchStatus(configMaps, ref, { status: {} }, { fieldManager: 'me' });
    const path = '/api/v1/namespaces/ns/configmaps';
    const received = server.requests.map(({ method, path: at, headers, query }) => [
      method,
      at,
      headers['content-type'],
      query.toString(),
    ]);
    expect(received).toEqual([
      ['POST', path, 'application/json', 'fieldManager=me&dryRun=All'],
      ['PATCH', `${path}/one`, 'application/apply-patch+yaml', 'fieldManager=me&force=true'],
      ['PATCH', `${path}/one/status`, 'application/apply-patch+yaml', 'fieldManager=me'],
      ['PATCH', `${path}/one`, 'application/merge-patch+json', ''],
      ['PATCH', `${path}/one/status`, 'application/merge-patch+json', 'fieldManager=me'],
    ]);
    expect(JSON.parse(server.requests[1]?.body ?? '')).toEqual({
      apiVersion: 'v1',
      kind: 'ConfigMap',
      ...object,
    });
    expect(server.requests[3]?.body).toBe('{"data":null}');
  });

  test('a delete frames its body, and the next request on the connection succeeds', async () => {
    const { client, server } = await bench((_, response) => answer(response, 200, one));
    const options = { uid: 'u', propagationPolicy: 'Background', gracePeriodSeconds: 0 } as const;
    await client.delete(configMaps, ref, options);
    for (let i = 0; i < 5; i++) {
      await client.delete(configMaps, ref);
      await client.get(configMaps, ref);
    }
    // Two connections, because the first may still be busy when the second request starts.
    expect(server.connections).toBeLessThanOrEqual(2);
    const [first, second] = server.requests;
    expect(first?.headers['content-length']).toBe(String(first?.body.length));
    expect(JSON.parse(first?.body ?? '')).toEqual({
      apiVersion: 'v1',
      kind: 'DeleteOptions',
      propagationPolicy: 'Background',
      gracePeriodSeconds: 0,
      preconditions: { uid: 'u' },
    });
    expect(JSON.parse(second?.body ?? '')).toEqual({ apiVersion: 'v1', kind: 'DeleteOptions' });
  });

  test('a request for a namespaced object without namespace is not sent', async () => {
    const { client, server } = await bench((_, response) => answer(response, 200, one));
    await expect(client.create(configMaps, { metadata: { name: 'one' } })).rejects.toThrow(
      /namespace/,
    );
    expect(server.requests).toEqual([]);
  });
});

function page(names: readonly string[], next?: string) {
  return {
    metadata: { resourceVersion: '9', ...(next ? { continue: next } : {}) },
    items: names.map((name) => ({ metadata: { name } })),
  };
}

describe('listAll', () => {
  test('listAll follows continue tokens through all pages', async () => {
    const { client, server } = await bench(({ query }, response) =>
      answer(response, 200, query.has('continue') ? page(['b']) : page(['a'], 'more')),
    );
    const { items } = await client.listAll(nodes, { resourceVersion: '0' });
    expect(items.map(({ metadata }) => metadata.name)).toEqual(['a', 'b']);
    expect(server.requests.map(({ query }) => query.toString())).toEqual([
      'resourceVersion=0&limit=500',
      'continue=more&limit=500',
    ]);
  });

  test('listAll restarts once when the continue token has expired', async () => {
    let expired = 0;
    const { client, server } = await bench(({ query }, response) => {
      if (!query.has('continue')) answer(response, 200, page(['a'], 'more'));
      else if (expired++ === 0) refuse(response, 410, 'Expired');
      else answer(response, 200, page(['b']));
    });
    const { items } = await client.listAll(nodes);
    expect(items.map(({ metadata }) => metadata.name)).toEqual(['a', 'b']);
    expect(server.requests).toHaveLength(4);
  });

  test('listAll fails when the continue token expires again', async () => {
    const { client, server } = await bench(({ query }, response) => {
      if (query.has('continue')) refuse(response, 410, 'Expired');
      else answer(response, 200, page(['a'], 'more'));
    });
    expect(await errorOf(client.listAll(nodes))).toMatchObject({ status: 410, reason: 'Expired' });
    expect(server.requests).toHaveLength(4);
  });
});

/** Refuses the first request and answers all later ones. */
function recovering(refuseFirst: Script): Script {
  let count = 0;
  return (request, response) =>
    count++ === 0 ? refuseFirst(request, response) : answer(response, 200, one);
}

const refusing = (code: number, headers?: Record<string, string>): Script =>
  recovering((_, response) => refuse(response, code, 'Busy', headers));
const dropping = (): Script => recovering(({ socket }) => socket.destroy());

describe('client retries', () => {
  const calls: Record<string, (client: KubeClient) => Promise<unknown>> = {
    get: (client) => client.get(configMaps, ref),
    apply: (client) => client.apply(configMaps, { metadata: ref }, { fieldManager: 'me' }),
    'delete with uid': (client) => client.delete(configMaps, ref, { uid: 'u' }),
    delete: (client) => client.delete(configMaps, ref),
    create: (client) => client.create(configMaps, { metadata: ref }),
    patch: (client) => client.patch(configMaps, ref, {}),
  };
  const repeatable = ['get', 'apply', 'delete with uid'];

  test.each(Object.keys(calls))('a 429 for %s is retried after Retry-After', async (name) => {
    const { client, server, clock } = await bench(refusing(429, { 'retry-after': '2' }));
    const done = calls[name]?.(client);
    await until('the retry to wait', () => clock.waits[0] === 2_000);
    expect(server.requests).toHaveLength(1);
    await clock.advance(2_000);
    await done;
    expect(server.requests).toHaveLength(2);
  });

  test.each(repeatable)('a 503 and a lost connection for %s are retried', async (name) => {
    for (const script of [refusing(503), dropping()]) {
      const { client, server, clock } = await bench(script);
      const done = calls[name]?.(client);
      await until('the retry to wait', () => clock.waits[0] === 250);
      await clock.advance(250);
      await done;
      expect(server.requests).toHaveLength(2);
    }
  });

  test.each(Object.keys(calls).filter((name) => !repeatable.includes(name)))(
    'a 503 and a lost connection for %s are not retried, because the request may have been executed',
    async (name) => {
      for (const [script, status] of [
        [refusing(503), 503],
        [dropping(), 0],
      ] as const) {
        const { client, server } = await bench(script);
        expect(await errorOf(calls[name]?.(client) ?? Promise.resolve())).toMatchObject({ status });
        expect(server.requests).toHaveLength(1);
      }
    },
  );

  test('a long Retry-After fails the call instead of waiting', async () => {
    const { client } = await bench((_, response) =>
      refuse(response, 429, 'Busy', { 'retry-after': '60' }),
    );
    expect(await errorOf(client.get(configMaps, ref))).toMatchObject({ retryAfterMs: 60_000 });
  });

  test('an abort ends the retry delay', async () => {
    const { client, clock } = await bench(refusing(503));
    const stop = new AbortController();
    const ended = expect(client.get(configMaps, ref, { signal: stop.signal })).rejects.toThrow(
      'enough',
    );
    await until('the retry to wait', () => clock.waits[0] === 250);
    stop.abort(new Error('enough'));
    await ended;
    expect(clock.waits).toEqual([]);
  });
});
