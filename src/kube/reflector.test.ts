import type { ServerResponse } from 'node:http';
import { afterEach, describe, expect, test } from 'vitest';
import { createKubeClient } from './client.ts';
import { type ConfigMap, configMaps } from './core-resources.ts';
import { createFakeClock, until } from './fake-clock.ts';
import { FlakyCollection } from './flaky-collection.ts';
import type { KubeObject } from './object.ts';
import { createReflector, type ReflectorOptions } from './reflector.ts';
import { answer, line, refuse, type SeenRequest, startScriptedServer } from './scripted-server.ts';
import { Store } from './store.ts';

type Reply = (response: ServerResponse, request: SeenRequest) => void;

const ends: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const end of ends.splice(0)) await end();
});

const item = (name: string, resourceVersion: number, more: object = {}) => ({
  metadata: { name, uid: `uid-${name}`, resourceVersion: String(resourceVersion), ...more },
});
const listed =
  (resourceVersion: number, ...items: object[]): Reply =>
  (response) =>
    answer(response, 200, { metadata: { resourceVersion: String(resourceVersion) }, items });
const refused =
  (code: number, headers?: Record<string, string>): Reply =>
  (response) =>
    refuse(response, code, 'No', headers);
/** Sends these lines and leaves the stream open. */
const streaming =
  (...lines: string[]): Reply =>
  (response) => {
    response.flushHeaders();
    for (const each of lines) response.write(each);
  };
const ending =
  (...lines: string[]): Reply =>
  (response) =>
    response.end(lines.join(''));
const silent: Reply = (response) => response.flushHeaders();

/** A reflector on a server that answers lists and watches with these replies, the last one again and again. */
async function bench(
  replies: { readonly lists: readonly Reply[]; readonly watches: readonly Reply[] },
  options: Partial<ReflectorOptions<ConfigMap>> = {},
) {
  const clock = createFakeClock();
  const counts = { lists: 0, watches: 0 };
  const versions: (string | null)[] = [];
  const server = await startScriptedServer((request, response) => {
    const kind = request.query.has('watch') ? 'watches' : 'lists';
    if (kind === 'watches') versions.push(request.query.get('resourceVersion'));
    replies[kind][Math.min(counts[kind]++, replies[kind].length - 1)]?.(response, request);
  });
  const client = createKubeClient({ server: server.url }, { clock, random: () => 0.5 });
  const store = new Store<ConfigMap>();
  const log: string[] = [];
  store.subscribe(({ type, object }) =>
    log.push(`${type} ${object.metadata.name} ${object.metadata.resourceVersion}`),
  );
  const errors: string[] = [];
  const reflector = createReflector({
    client,
    resource: configMaps,
    store,
    clock,
    random: () => 0.5,
    onError: (error, ms) => errors.push(`${String(error)} | ${Math.round(ms)}`),
    ...options,
  });
  const stop = new AbortController();
  let running = reflector.run(stop.signal);
  const end = async (): Promise<void> => {
    stop.abort();
    await running;
    await client[Symbol.asyncDispose]();
    await server[Symbol.asyncDispose]();
  };
  ends.push(end);
  /** Waits for a pause of the reflector and lets it pass. */
  const pass = async (ms: number): Promise<void> => {
    await until(
      `a pause of ${ms} ms`,
      () => reflector.state === 'waiting' && clock.waits[0] === ms,
    );
    await clock.advance(ms);
  };
  const rerun = (signal: AbortSignal): Promise<void> => (running = reflector.run(signal));
  return {
    clock,
    counts,
    versions,
    server,
    store,
    log,
    errors,
    reflector,
    stop,
    running,
    pass,
    rerun,
  };
}

describe('reflector', () => {
  test('lists in pages, then watches from the version of the list', async () => {
    const first: Reply = (response, { query }) => {
      const more = query.has('continue') ? {} : { continue: 'next' };
      const name = query.has('continue') ? 'b' : 'a';
      answer(response, 200, {
        metadata: { resourceVersion: '7', ...more },
        items: [item(name, 5)],
      });
    };
    const { reflector, server, log, versions } = await bench(
      { lists: [first], watches: [streaming(line('ADDED', item('c', 8)))] },
      { namespace: 'ns', labelSelector: 'a=b' },
    );
    await reflector.synced;
    expect(log).toEqual(['added a 5', 'added b 5']);
    await until('the event', () => log.length === 3);
    expect([versions, reflector.state]).toEqual([['7'], 'watching']);
    const { path, query } = server.requests.at(-1) ?? {};
    expect(path).toBe('/api/v1/namespaces/ns/configmaps');
    expect(query?.get('labelSelector')).toBe('a=b');
    expect(query?.get('allowWatchBookmarks')).toBe('true');
    expect(Number(query?.get('timeoutSeconds'))).toBeGreaterThanOrEqual(20);
    expect(Number(query?.get('timeoutSeconds'))).toBeLessThanOrEqual(25);
  });

  test('resumes at once, from event or bookmark, when the server ends a watch', async () => {
    const bookmark = line('BOOKMARK', { metadata: { resourceVersion: '20' } });
    const { counts, versions, errors } = await bench({
      lists: [listed(7)],
      watches: [ending(line('ADDED', item('a', 8))), ending(bookmark), silent],
    });
    await until('three watches', () => counts.watches === 3);
    expect(versions).toEqual(['7', '8', '20']);
    expect([counts.lists, errors]).toEqual([1, []]);
  });

  test('pauses before a watch that the server ended without having said anything', async () => {
    const { counts, pass, versions } = await bench({
      lists: [listed(7)],
      watches: [ending(), silent],
    });
    await pass(800);
    await until('the second watch', () => counts.watches === 2);
    expect(versions).toEqual(['7', '7']);
  });

  test('a lost connection is resumed, and what comes again is not told again', async () => {
    const events = [line('ADDED', item('a', 8)), line('MODIFIED', item('a', 9))];
    const drop: Reply = (response) => {
      response.write(events.join(''), () => response.destroy());
    };
    const replay = streaming(...events, line('DELETED', item('a', 10)));
    const { log, pass, versions, counts } = await bench({
      lists: [listed(7)],
      watches: [drop, replay],
    });
    await pass(800);
    await until('the deletion', () => log.length === 3);
    expect(log).toEqual(['added a 8', 'updated a 9', 'deleted a 9']);
    expect([versions, counts.lists]).toEqual([['7', '9'], 1]);
  });

  test('an object that was deleted does not come back with a replay', async () => {
    const before = [line('ADDED', item('a', 8)), line('DELETED', item('a', 9))];
    const { log } = await bench({
      lists: [listed(7)],
      watches: [ending(...before), streaming(...before, line('ADDED', item('b', 10)))],
    });
    await until('the last event', () => log.includes('added b 10'));
    expect(log).toEqual(['added a 8', 'deleted a 8', 'added b 10']);
  });

  test.each([
    ['as the answer to the watch', refused(410)],
    [
      'inside the stream',
      streaming(line('ERROR', { code: 410, reason: 'Expired', message: 'old' })),
    ],
  ])('410 %s leads to a list that tells what is gone', async (_, gone) => {
    const { log, pass, versions } = await bench({
      lists: [listed(7, item('a', 3), item('b', 4)), listed(30, item('b', 25))],
      watches: [gone, silent],
    });
    await pass(800);
    await until('the second list', () => log.length === 4);
    expect(log).toEqual(['added a 3', 'added b 4', 'deleted a 3', 'updated b 25']);
    await until('the second watch', () => versions.length === 2);
    expect(versions).toEqual(['7', '30']);
  });

  test('a server that is away is asked less and less often, and often again after it was back', async () => {
    const healthy = ending(line('ADDED', item('a', 8)));
    const { pass, counts, errors, log } = await bench({
      lists: [listed(7)],
      watches: [refused(503), refused(503), refused(503), healthy, refused(503), silent],
    });
    for (const ms of [800, 1_600, 3_200, 800]) await pass(ms);
    await until('the last watch', () => counts.watches === 6);
    expect(log).toEqual(['added a 8']);
    expect(errors.map((error) => error.replace(/.* \| /, ''))).toEqual([
      '800',
      '1600',
      '3200',
      '800',
    ]);
  });

  test('a server that asks for patience gets it', async () => {
    const { pass, counts } = await bench({
      lists: [listed(7)],
      watches: [refused(429, { 'retry-after': '9' }), silent],
    });
    await pass(9_000);
    await until('the second watch', () => counts.watches === 2);
  });

  test('a list that fails is tried again', async () => {
    const { pass, reflector, store } = await bench({
      lists: [refused(500), listed(7, item('a', 3))],
      watches: [silent],
    });
    await pass(800);
    await reflector.synced;
    expect(store.size).toBe(1);
  });

  test('a stream cut in the middle of an event is resumed from the event before', async () => {
    const { pass, log, versions } = await bench({
      lists: [listed(7)],
      watches: [
        ending(line('ADDED', item('a', 8)), '{"type":"MODIFIED","object":{"metad'),
        streaming(line('MODIFIED', item('a', 9))),
      ],
    });
    await pass(800);
    await until('the event', () => log.length === 2);
    expect([log, versions]).toEqual([
      ['added a 8', 'updated a 9'],
      ['7', '8'],
    ]);
  });

  test.each([
    ['after its headers', silent],
    ['before its headers', () => undefined],
    ['after an event', streaming(line('ADDED', item('a', 8)))],
  ] satisfies [string, Reply][])(
    'a connection that falls silent %s is given up within 35 s',
    async (_, reply) => {
      const { clock, counts, log, reflector } = await bench({
        lists: [listed(7)],
        watches: [reply, streaming(line('ADDED', item('b', 9)))],
      });
      await until('the guard', () => counts.watches === 1 && clock.waits.includes(30_000));
      await until(
        'what came before',
        () => reply === silent || reply.length === 0 || log.length === 1,
      );
      await clock.advance(30_000);
      await until('the pause', () => reflector.state === 'waiting');
      await clock.advance(5_000);
      await until('the event of the next watch', () => log.includes('added b 9'));
    },
  );

  test('an event that no watch told is found by the list that comes every ten minutes', async () => {
    const clock = createFakeClock();
    const collection = new FlakyCollection(clock, ['none', 'omit']);
    const store = new Store<KubeObject>();
    const reflector = createReflector<KubeObject>({
      client: collection.client(),
      resource: configMaps,
      store,
      clock,
      random: () => 0.5,
    });
    const stop = new AbortController();
    const running = reflector.run(stop.signal);
    await clock.advance(1_000);
    collection.put('a');
    await clock.advance(595_000);
    expect(store.size).toBe(0);
    await clock.advance(30_000);
    expect(store.size).toBe(1);
    stop.abort();
    await running;
  });

  test('an object that cannot be read hides no other and is not taken for deleted', async () => {
    const strict = {
      ...configMaps,
      parse: (raw: unknown) => {
        const object = raw as ConfigMap;
        if (object.metadata.labels?.['bad']) throw new Error('cannot be read');
        return object;
      },
    };
    const bad = { labels: { bad: 'yes' } };
    const { log, errors, store, pass } = await bench(
      {
        lists: [listed(7, item('a', 3), item('b', 4, bad)), listed(20, item('a', 8, bad))],
        watches: [
          ending(line('MODIFIED', item('a', 8, bad)), line('ADDED', item('c', 9))),
          refused(410),
          streaming(line('ADDED', item('d', 21))),
        ],
      },
      { resource: strict },
    );
    await until('the first events', () => log.includes('added c 9'));
    expect(log).toEqual(['added a 3', 'added c 9']);
    expect(errors).toEqual(['Error: reading ConfigMap b | 0', 'Error: reading ConfigMap a | 0']);
    await pass(800);
    await until('the last event', () => log.includes('added d 21'));
    expect(log).toEqual(['added a 3', 'added c 9', 'deleted c 9', 'added d 21']);
    expect(store.get('a')?.metadata.resourceVersion).toBe('3');
  });

  test('managed fields are dropped, and what the transformation drops', async () => {
    const { reflector, store } = await bench(
      {
        lists: [listed(7, { ...item('a', 3, { managedFields: [{}] }), data: { big: 'x' } })],
        watches: [silent],
      },
      {
        transform: ({ apiVersion, kind, metadata }) =>
          ({ apiVersion, kind, metadata }) as ConfigMap,
      },
    );
    await reflector.synced;
    const { metadata } = item('a', 3);
    expect(store.get('a')).toEqual({ apiVersion: 'v1', kind: 'ConfigMap', metadata });
  });

  test('a listener that throws is reported, stops nothing and is told again', async () => {
    const { store, log, errors, counts } = await bench({
      lists: [listed(7)],
      watches: [ending(line('ADDED', item('a', 8)), line('ADDED', item('b', 9))), silent],
    });
    const taken: string[] = [];
    let broken = true;
    store.subscribe(({ key }) => {
      if (broken && key === 'a') {
        broken = false;
        throw new Error('broken');
      }
      taken.push(key);
    });
    await until('the second watch', () => counts.watches === 2);
    expect([log, taken]).toEqual([
      ['added a 8', 'added b 9'],
      ['b', 'a'],
    ]);
    expect(errors).toEqual(['AggregateError: telling listeners of a store | 0']);
  });

  test.each([
    ['listing', { lists: [() => undefined], watches: [] }],
    ['watching', { lists: [listed(7)], watches: [silent] }],
    ['waiting', { lists: [refused(500)], watches: [] }],
  ])('ends quietly while %s', async (state, replies) => {
    const { reflector, stop, running, server, errors } = await bench(replies);
    await until(state, () => reflector.state === state && server.requests.length > 0);
    stop.abort();
    await running;
    expect(reflector.state).toBe('stopped');
    expect(errors.length).toBe(state === 'waiting' ? 1 : 0);
  });

  test('runs once at a time, and again after it has ended', async () => {
    const { reflector, stop, running, rerun, log } = await bench({
      lists: [listed(7, item('a', 3)), listed(9, item('b', 8))],
      watches: [silent],
    });
    await reflector.synced;
    await expect(reflector.run(stop.signal)).rejects.toThrow('runs already');
    stop.abort();
    await running;
    const again = new AbortController();
    ends.push(async () => again.abort());
    const rerunning = rerun(again.signal);
    await reflector.synced;
    expect(log).toEqual(['added a 3', 'deleted a 3', 'added b 8']);
    again.abort();
    await rerunning;
  });
});
