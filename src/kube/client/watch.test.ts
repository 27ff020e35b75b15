import type { ServerResponse } from 'node:http';
import { describe, expect, test } from 'vitest';
import { createFakeClock, until } from '../../time/fake-clock.ts';
import { type ConfigMap, configMaps } from '../core-resources.ts';
import { isGone } from '../errors.ts';
import {
  disposeAfterTest,
  line,
  refuse,
  type Script,
  startScriptedServer,
} from '../testing/scripted-server.ts';
import type { WatchEvent, WatchOptions } from './client.ts';
import { createKubeClient } from './http-client.ts';

async function bench(script: Script) {
  const clock = createFakeClock();
  const server = await startScriptedServer(script);
  const client = createKubeClient({ server: server.url }, { clock });
  disposeAfterTest(client, server);
  return { client, server, clock };
}

const item = (name: string, resourceVersion: string) => ({ metadata: { name, resourceVersion } });

/** Starts a watch whose response the test controls. */
async function streamed(options: Partial<WatchOptions> = {}) {
  let response: ServerResponse | undefined;
  const { client, server, clock } = await bench((_, opened) => {
    response = opened;
    opened.flushHeaders();
  });
  const received: WatchEvent<ConfigMap>[] = [];
  const follow = async (): Promise<void> => {
    const all = { namespace: 'ns', resourceVersion: '7', ...options };
    for await (const event of client.watch(configMaps, all)) received.push(event);
  };
  const ended = follow().then(
    () => undefined,
    (error: unknown) => error,
  );
  await until('the watch to be open', () => response !== undefined);
  if (!response) throw new Error('no response');
  return { response, received, ended, server, clock };
}

describe('watch', () => {
  test('watch requests bookmarks, a start version and a timeout', async () => {
    const { server, response, ended } = await streamed({
      timeoutSeconds: 20,
      labelSelector: 'a=b',
    });
    response.end();
    expect(await ended).toBeUndefined();
    expect(Object.fromEntries(server.requests[0]?.query ?? [])).toEqual({
      watch: 'true',
      allowWatchBookmarks: 'true',
      resourceVersion: '7',
      timeoutSeconds: '20',
      labelSelector: 'a=b',
    });
  });

  test('watch yields events and bookmarks, and ends with the stream', async () => {
    const { response, received, ended } = await streamed();
    response.write(
      line('ADDED', item('a', '8')) + line('BOOKMARK', { metadata: { resourceVersion: '9' } }),
    );
    response.end(line('DELETED', item('a', '10')));
    expect(await ended).toBeUndefined();
    expect(received).toMatchObject([
      { type: 'ADDED', object: { kind: 'ConfigMap', metadata: { name: 'a' } } },
      { type: 'BOOKMARK', resourceVersion: '9' },
      { type: 'DELETED' },
    ]);
  });

  test('watch throws on an ERROR event', async () => {
    const { response, received, ended } = await streamed();
    const status = { kind: 'Status', code: 410, reason: 'Expired', message: 'too old' };
    response.write(line('ADDED', item('a', '8')) + line('ERROR', status));
    const error = await ended;
    expect(isGone(error)).toBe(true);
    expect(received).toHaveLength(1);
  });

  test('watch throws when the server refuses the request', async () => {
    const { client } = await bench((_, response) => refuse(response, 410, 'Gone'));
    const events = client.watch(configMaps, { resourceVersion: '1' })[Symbol.asyncIterator]();
    await expect(events.next()).rejects.toMatchObject({ status: 410 });
  });

  test.each([
    ['a truncated event', (response) => response.end('{"type":"ADDED","obj'), 'InvalidAnswer'],
    ['a line without JSON', (response) => response.write('hello\n'), 'InvalidAnswer'],
    [
      'an event of an unknown type',
      (response) => response.write(line('MOVED', {})),
      'InvalidAnswer',
    ],
    ['a lost connection', (response) => response.destroy(), 'Unreachable'],
  ] satisfies [string, (response: ServerResponse) => void, string][])(
    'watch throws on %s, after yielding earlier events',
    async (_, send, reason) => {
      const { response, received, ended } = await streamed();
      response.write(line('ADDED', item('a', '8')));
      await until('the first event', () => received.length === 1);
      send(response);
      expect(await ended).toMatchObject({ name: 'KubeError', reason });
    },
  );

  test('watch closes an idle connection, but not an active one', async () => {
    const { response, received, ended, clock } = await streamed({ idleMs: 1_000 });
    for (const [count, version] of ['8', '9'].entries()) {
      await until('the guard', () => clock.waits.includes(1_000));
      await clock.advance(999);
      response.write(line('MODIFIED', item('a', version)));
      await until('the event', () => received.length === count + 1);
    }
    await until('the guard', () => clock.waits.includes(1_000));
    let closed = false;
    response.on('close', () => (closed = true));
    await clock.advance(1_000);
    expect(await ended).toMatchObject({ reason: 'Timeout' });
    await until('the connection to be closed', () => closed);
    expect(clock.waits).toEqual([]);
  });

  test("watch ends with its signal's reason and closes the connection", async () => {
    const stop = new AbortController();
    const { response, ended } = await streamed({ signal: stop.signal });
    let closed = false;
    response.on('close', () => (closed = true));
    const reason = new Error('enough');
    stop.abort(reason);
    expect(await ended).toBe(reason);
    await until('the connection to be closed', () => closed);
  });

  test('watch closes the connection when its reader stops', async () => {
    let closed = false;
    const { client } = await bench((_, response) => {
      response.on('close', () => (closed = true));
      response.write(line('ADDED', item('a', '8')));
    });
    for await (const event of client.watch(configMaps, { resourceVersion: '1' })) {
      expect(event.type).toBe('ADDED');
      break;
    }
    await until('the connection to be closed', () => closed);
  });

  test('watches use no call connections', async () => {
    const version = { gitVersion: 'v1.37.0' };
    const { client, server } = await bench(({ path }, response) => {
      if (path === '/version')
        response.setHeader('content-type', 'application/json').end(JSON.stringify(version));
      else response.flushHeaders();
    });
    const stop = new AbortController();
    const watches = Array.from({ length: 40 }, async () => {
      const options = { resourceVersion: '1', signal: stop.signal };
      for await (const _ of client.watch(configMaps, options));
    });
    const ended = Promise.allSettled(watches);
    await until('all watches', () => server.requests.length === 40);
    expect(await client.version()).toEqual(version);
    stop.abort();
    await ended;
  });
});
