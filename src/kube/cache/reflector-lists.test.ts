import { describe, expect, test } from 'vitest';
import { until } from '../../time/fake-clock.ts';
import { type ConfigMap, configMaps } from '../core-resources.ts';
import { bench, item, listed, type Reply, silent, streaming } from '../testing/reflector-bench.ts';
import { line } from '../testing/scripted-server.ts';
import { Store } from './store.ts';

/** Ends the stream with status 410, forcing a relist. */
const expired = streaming(line('ERROR', { code: 410, reason: 'Expired', message: 'too old' }));

const owned = (name: string) => ({ ...item(name, 5), data: { owner: 'X' } });
const broken = (uid: string) => ({ ...item('a', 9, { uid }), data: { broken: 'yes' } });

function parseUnlessBroken(raw: unknown): ConfigMap {
  const object = raw as ConfigMap;
  if (object.data?.['broken']) throw new Error('broken');
  return object;
}

describe('reflector list', () => {
  test('a list keeps objects this process stored while the list was running', async () => {
    const store = new Store<ConfigMap>();
    const log: string[] = [];
    store.subscribe(({ type, key }) => log.push(`${type} ${key}`));
    const late: Reply = (response, request) => {
      store.upsert(item('mine', 12));
      listed(10, item('a', 5))(response, request);
    };
    const { counts, pass } = await bench(
      { lists: [listed(7, item('a', 5)), late], watches: [expired, silent] },
      { store },
    );
    await pass(800);
    await until('the second watch', () => counts.watches === 2);
    expect(log).toEqual(['added a', 'added mine']);
  });

  test('a list with an unindexable object stores all other objects', async () => {
    const store = new Store<ConfigMap>({
      indexes: { owner: ({ data }) => [(data as { owner: string }).owner.toLowerCase()] },
    });
    const { reflector, errors } = await bench(
      { lists: [listed(7, owned('a'), item('b', 5), owned('c'))], watches: [silent] },
      { store },
    );
    await reflector.synced;
    expect(store.list().map(({ metadata }) => metadata.name)).toEqual(['a', 'c']);
    expect(store.byIndex('owner', 'x')).toHaveLength(2);
    expect(errors).toHaveLength(1);
  });

  test('a list reports an object as deleted when an unreadable object with another uid has its name', async () => {
    const { counts, log, pass } = await bench(
      {
        lists: [listed(7, item('a', 5)), listed(10, broken('uid-a')), listed(20, broken('other'))],
        watches: [expired, expired, silent],
      },
      { resource: { ...configMaps, parse: parseUnlessBroken } },
    );
    await pass(800);
    await until('the second list', () => counts.lists === 2);
    expect(log).toEqual(['added a 5']);
    await pass(1_600);
    await until('the third watch', () => counts.watches === 3);
    expect(log).toEqual(['added a 5', 'deleted a 5']);
  });

  test('a list parses only objects with an unknown version', async () => {
    const read: string[] = [];
    const parse = (raw: unknown): ConfigMap => {
      read.push((raw as ConfigMap).metadata.name);
      return raw as ConfigMap;
    };
    const { counts, log, pass } = await bench(
      {
        lists: [
          listed(7, item('a', 5), item('b', 6)),
          listed(10, item('a', 5), item('b', 6, { uid: 'other' }), item('c', 9)),
        ],
        watches: [expired, silent],
      },
      { resource: { ...configMaps, parse } },
    );
    await pass(800);
    await until('the second watch', () => counts.watches === 2);
    expect(read).toEqual(['a', 'b', 'b', 'c']);
    expect(log).toEqual(['added a 5', 'added b 6', 'deleted b 6', 'added b 6', 'added c 9']);
  });

  test("onStep reports each list and watch result, and silentMs the server's silence", async () => {
    const steps: string[] = [];
    const { clock, counts, pass, reflector } = await bench(
      { lists: [listed(7, item('a', 5)), listed(10)], watches: [expired, silent] },
      { onStep: ({ what, failed }) => steps.push(`${what} ${failed ? 'failed' : 'ended'}`) },
    );
    expect(reflector.silentMs).toBeUndefined();
    await pass(800);
    await until('the second watch', () => counts.watches === 2);
    expect(steps).toEqual(['list ended', 'watch failed', 'list ended']);
    await clock.advance(5_000);
    expect(reflector.silentMs).toBe(5_000);
  });
});
