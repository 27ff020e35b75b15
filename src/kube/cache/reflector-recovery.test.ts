import { describe, expect, test } from 'vitest';
import { createFakeClock, type FakeClock } from '../../time/fake-clock.ts';
import type { KubeClient } from '../client/client.ts';
import { configMaps } from '../core-resources.ts';
import { KubeError } from '../errors.ts';
import type { KubeObject } from '../object.ts';
import { type Fault, FlakyCollection } from '../testing/flaky-collection.ts';
import { createReflector } from './reflector.ts';
import { Store } from './store.ts';

type Lister = Pick<KubeClient, 'list' | 'watch'>;

const random = () => 0.5;

/** A store that follows a collection for a second already; `seen` is what it holds. */
async function following(client: Lister, clock: FakeClock) {
  const store = new Store<KubeObject>();
  const reflector = createReflector({ client, resource: configMaps, store, clock, random });
  const stop = new AbortController();
  const running = reflector.run(stop.signal);
  await clock.advance(1_000);
  return {
    seen: () =>
      new Map(store.list().map(({ metadata }) => [metadata.name, metadata.resourceVersion])),
    async [Symbol.asyncDispose]() {
      stop.abort();
      await running;
    },
  };
}

describe('a list that comes every ten minutes', () => {
  test('finds an event that no watch told', async () => {
    const clock = createFakeClock();
    const collection = new FlakyCollection(clock, ['none', 'omit']);
    await using store = await following(collection.client(), clock);
    collection.put('a');
    await clock.advance(595_000);
    expect(store.seen().size).toBe(0);
    await clock.advance(30_000);
    expect(store.seen().size).toBe(1);
  });

  test('is not in the way of a watch that works when it fails', async () => {
    const clock = createFakeClock();
    const collection = new FlakyCollection(clock, []);
    const { list, watch } = collection.client();
    let [fails, lists] = [false, 0];
    const client: Lister = {
      list: (resource, options) => {
        lists++;
        if (fails) throw new KubeError({ status: 504, reason: 'Timeout', message: 'etcd' });
        return list(resource, options);
      },
      watch,
    };
    await using store = await following(client, clock);
    fails = true;
    await clock.advance(660_000);
    const before = lists;
    collection.put('a');
    await clock.advance(30_000);
    expect(store.seen().size).toBe(1);
    // The list is not forgotten, and does not come with every watch.
    await clock.advance(600_000);
    expect(lists - before).toBeGreaterThan(5);
    expect(lists - before).toBeLessThan(15);
  });
});

test('a watch that ends at once is doubted in time, however long its server takes to say how far it is', async () => {
  const clock = createFakeClock();
  const collection = new FlakyCollection(clock, []);
  const { list, watch } = collection.client();
  let lists = 0;
  const client: Lister = {
    async list(resource, options) {
      if (options?.limit === 1) await clock.sleep(6_000, options.signal);
      else if (options?.continue === undefined) lists++;
      return list(resource, options);
    },
    async *watch(resource, options) {
      if (options.resourceVersion === '100')
        throw new KubeError({ status: 500, reason: 'InternalError', message: 'no' });
      yield* watch(resource, options);
    },
  };
  await using store = await following(client, clock);
  collection.put('a');
  await clock.advance(120_000);
  expect(lists).toBe(2);
  expect(store.seen()).toEqual(collection.state);
});

test.each([
  ['when it is back', []],
  ['also when it is in trouble for a while', ['refuse', 'refuse', 'none', 'refuse']],
] satisfies [string, Fault[]][])(
  'a server that was restored from a backup is listed again %s: it would tell nothing for a long time',
  async (_, trouble) => {
    const clock = createFakeClock();
    const collection = new FlakyCollection(clock, ['none', 'drop', ...trouble]);
    collection.put('kept');
    const restore = collection.backup();
    await using store = await following(collection.client(), clock);
    for (const name of ['lost', 'kept', 'kept']) collection.put(name);
    // The watch breaks with its second event, because all API servers are started anew.
    await clock.advance(600);
    expect([...store.seen()]).toEqual([
      ['kept', '103'],
      ['lost', '102'],
    ]);
    restore();
    collection.put('new');
    await clock.advance(60_000);
    expect(store.seen()).toEqual(collection.state);
  },
);
