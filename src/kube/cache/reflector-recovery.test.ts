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

/** Starts a reflector and lets it follow the collection for a second; `stored` returns the store content. */
async function following(client: Lister, clock: FakeClock) {
  const store = new Store<KubeObject>();
  const reflector = createReflector({ client, resource: configMaps, store, clock, random });
  const stop = new AbortController();
  const running = reflector.run(stop.signal);
  await clock.advance(1_000);
  return {
    stored: () =>
      new Map(store.list().map(({ metadata }) => [metadata.name, metadata.resourceVersion])),
    async [Symbol.asyncDispose]() {
      stop.abort();
      await running;
    },
  };
}

describe('ten-minute relist', () => {
  test('the ten-minute relist finds an event every watch missed', async () => {
    const clock = createFakeClock();
    const collection = new FlakyCollection(clock, ['none', 'omit']);
    await using store = await following(collection.client(), clock);
    collection.put('a');
    await clock.advance(595_000);
    expect(store.stored().size).toBe(0);
    await clock.advance(30_000);
    expect(store.stored().size).toBe(1);
  });

  test('a failed relist does not disturb a working watch', async () => {
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
    expect(store.stored().size).toBe(1);
    // The relist is retried, but not with every watch.
    await clock.advance(600_000);
    expect(lists - before).toBeGreaterThan(5);
    expect(lists - before).toBeLessThan(15);
  });
});

test('a watch that ends at once triggers a relist in time, even with a slow version check', async () => {
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
  expect(store.stored()).toEqual(collection.state);
});

test.each([
  ['after its return', []],
  ['even after repeated failures', ['refuse', 'refuse', 'none', 'refuse']],
] satisfies [string, Fault[]][])(
  'a server restored from a backup is listed again %s, because its watch would stay silent',
  async (_, faults) => {
    const clock = createFakeClock();
    const collection = new FlakyCollection(clock, ['none', 'drop', ...faults]);
    collection.put('kept');
    const restore = collection.backup();
    await using store = await following(collection.client(), clock);
    for (const name of ['lost', 'kept', 'kept']) collection.put(name);
    // The watch breaks at its second event, because all API servers restart.
    await clock.advance(600);
    expect([...store.stored()]).toEqual([
      ['kept', '103'],
      ['lost', '102'],
    ]);
    restore();
    collection.put('new');
    await clock.advance(60_000);
    expect(store.stored()).toEqual(collection.state);
  },
);
