import { describe, expect, test } from 'vitest';
import { until } from '../../time/fake-clock.ts';
import { type ConfigMap, configMaps } from '../core-resources.ts';
import { bench, item, listed, type Reply, silent, streaming } from '../testing/reflector-bench.ts';
import { line } from '../testing/scripted-server.ts';
import { Store } from './store.ts';

/** The stream ends with an expired version, so that a list follows. */
const expired = streaming(line('ERROR', { code: 410, reason: 'Expired', message: 'too old' }));

const owned = (name: string) => ({ ...item(name, 5), data: { owner: 'X' } });
const broken = (uid: string) => ({ ...item('a', 9, { uid }), data: { broken: 'yes' } });

function parseUnlessBroken(raw: unknown): ConfigMap {
  const object = raw as ConfigMap;
  if (object.data?.['broken']) throw new Error('broken');
  return object;
}

describe('a list of a reflector', () => {
  test('does not take back what this process stored while the list was on its way', async () => {
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

  test('with an object that an index cannot take has all the others', async () => {
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

  test('says that an object is gone whose name another one has that cannot be read', async () => {
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

  test('reads only what is not known in this version', async () => {
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

  test('tells how each list and each watch ended, and how long the server has been silent', async () => {
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
