import { describe, expect, onTestFinished, test } from 'vitest';
import { until } from '../../time/fake-clock.ts';
import { type ConfigMap, configMaps } from '../core-resources.ts';
import {
  bench,
  ending,
  item,
  listed,
  type Reply,
  refused,
  silent,
  streaming,
} from '../testing/reflector-bench.ts';
import { answer, line } from '../testing/scripted-server.ts';

/** A list with two pages, one object each. */
const twoPages: Reply = (response, { query }) => {
  const more = query.has('continue') ? {} : { continue: 'next' };
  const name = query.has('continue') ? 'b' : 'a';
  answer(response, 200, {
    metadata: { resourceVersion: '7', ...more },
    items: [item(name, 5)],
  });
};

describe('reflector', () => {
  test("the reflector lists in pages, then watches from the list's version", async () => {
    const { reflector, server, log, versions } = await bench(
      { lists: [twoPages], watches: [streaming(line('ADDED', item('c', 8)))] },
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

  test('the reflector resumes at once from the last event or bookmark when the server ends a watch', async () => {
    const bookmark = line('BOOKMARK', { metadata: { resourceVersion: '20' } });
    const { counts, versions, errors } = await bench({
      lists: [listed(7)],
      watches: [ending(line('ADDED', item('a', 8))), ending(bookmark), silent],
    });
    await until('three watches', () => counts.watches === 3);
    expect(versions).toEqual(['7', '8', '20']);
    expect([counts.lists, errors]).toEqual([1, []]);
  });

  test('the reflector pauses before a new watch when the server ended the last one without events', async () => {
    const { counts, pass, versions } = await bench({
      lists: [listed(7)],
      watches: [ending(), silent],
    });
    await pass(800);
    await until('the second watch', () => counts.watches === 2);
    expect(versions).toEqual(['7', '7']);
  });

  test('the reflector stores all other objects beside an unreadable one, and keeps its last readable version', async () => {
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
    await pass(800);
    expect(errors.slice(0, 2)).toEqual([
      'Error: reading ConfigMap b | 0',
      'Error: reading ConfigMap a | 0',
    ]);
    await until('the last event', () => log.includes('added d 21'));
    expect(log).toEqual(['added a 3', 'added c 9', 'deleted c 9', 'added d 21']);
    expect(store.get('a')?.metadata.resourceVersion).toBe('3');
  });

  test('managedFields and transformed-away fields are not stored', async () => {
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

  test('a throwing store listener is reported, blocks no event and gets its change again', async () => {
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
    expect(errors).toEqual(['AggregateError: notifying store listeners | 0']);
  });

  test.each([
    ['listing', { lists: [() => undefined], watches: [] }],
    ['watching', { lists: [listed(7)], watches: [silent] }],
    ['waiting', { lists: [refused(500)], watches: [] }],
  ])('the reflector ends without error while %s', async (state, replies) => {
    const { reflector, stop, running, server, errors } = await bench(replies);
    await until(state, () => reflector.state === state && server.requests.length > 0);
    stop.abort();
    await running;
    expect(reflector.state).toBe('stopped');
    expect(errors.length).toBe(state === 'waiting' ? 1 : 0);
  });

  test('the reflector refuses a second run, and runs again after its end', async () => {
    const { reflector, stop, running, rerun, log } = await bench({
      lists: [listed(7, item('a', 3)), listed(9, item('b', 8))],
      watches: [silent],
    });
    await reflector.synced;
    await expect(reflector.run(stop.signal)).rejects.toThrow('is already running');
    stop.abort();
    await running;
    const again = new AbortController();
    onTestFinished(() => again.abort());
    const rerunning = rerun(again.signal);
    await reflector.synced;
    expect(log).toEqual(['added a 3', 'added b 8', 'deleted a 3']);
    again.abort();
    await rerunning;
  });
});
