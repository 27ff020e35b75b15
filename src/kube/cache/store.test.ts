import { describe, expect, test } from 'vitest';
import type { KubeObject } from '../object.ts';
import { type Change, Store } from './store.ts';

interface Item extends KubeObject {
  readonly colors: readonly string[];
}

function item(
  name: string,
  resourceVersion: number,
  colors: string[] = [],
  uid = `uid-${name}`,
): Item {
  return { metadata: { name, uid, resourceVersion: String(resourceVersion) }, colors };
}

function storeWithLog() {
  const store = new Store<Item>({ indexes: { color: ({ colors }) => colors } });
  const log: string[] = [];
  store.subscribe(({ type, object }) =>
    log.push(`${type} ${object.metadata.name} ${object.metadata.resourceVersion}`),
  );
  return { store, log };
}

describe('store', () => {
  test('the object store adds, updates and removes objects', () => {
    const { store, log } = storeWithLog();
    store.upsert(item('a', 1));
    store.upsert(item('a', 2));
    store.remove(item('a', 3));
    expect(log).toEqual(['added a 1', 'updated a 2', 'deleted a 2']);
    expect([store.size, store.get('a')]).toEqual([0, undefined]);
  });

  test('the object store ignores versions no newer than the stored one', () => {
    const { store, log } = storeWithLog();
    store.upsert(item('a', 10));
    store.upsert(item('a', 10));
    store.upsert(item('a', 9));
    store.remove(item('a', 9));
    store.remove(item('b', 11));
    expect(log).toEqual(['added a 10']);
  });

  test('an update notification contains the previous object', () => {
    const store = new Store<Item>();
    const changes: Change<Item>[] = [];
    const [before, after] = [item('a', 1), item('a', 2)];
    store.upsert(before);
    store.subscribe((change) => changes.push(change));
    store.upsert(after);
    expect(changes).toEqual([{ type: 'updated', key: 'a', object: after, previous: before }]);
  });

  test('replace notifies about added, updated and deleted objects', () => {
    const { store, log } = storeWithLog();
    for (const name of ['a', 'b', 'c']) store.upsert(item(name, 1));
    log.length = 0;
    store.replace([item('b', 1), item('c', 5), item('d', 6)]);
    expect(log).toEqual(['updated c 5', 'added d 6', 'deleted a 1']);
    expect(store.list().map(({ metadata }) => metadata.name)).toEqual(['b', 'c', 'd']);
  });

  test('a list replaces stored objects even by smaller versions', () => {
    const { store, log } = storeWithLog();
    store.upsert(item('a', 100));
    store.replace([item('a', 7)]);
    expect(log).toEqual(['added a 100', 'updated a 7']);
  });

  test('a list keeps objects stored meanwhile with a newer version', () => {
    const { store, log } = storeWithLog();
    for (const name of ['a', 'b', 'c']) store.upsert(item(name, 1));
    log.length = 0;
    const listing = store.startList();
    store.upsert(item('mine', 12));
    store.upsert(item('a', 11));
    store.upsert(item('b', 9));
    listing.add(item('a', 1), '10');
    listing.end('10');
    expect(log).toEqual([
      'added mine 12',
      'updated a 11',
      'updated b 9',
      'deleted b 9',
      'deleted c 1',
    ]);
    store.startList().end('20');
    expect(store.size).toBe(0);
  });

  test('a throwing index skips only its object and keeps the stored version', () => {
    const store = new Store<Item>({
      indexes: { color: ({ colors }) => colors.map((color) => color.toUpperCase()) },
    });
    store.upsert(item('b', 1, ['red']));
    const broken = { ...item('b', 2), colors: [undefined] } as unknown as Item;
    expect(() => store.replace([item('a', 1), broken, item('c', 1, ['red'])])).toThrow();
    expect(store.list().map(({ metadata }) => metadata.name)).toEqual(['b', 'a', 'c']);
    expect(store.byIndex('color', 'RED').map(({ metadata }) => metadata.name)).toEqual(['b', 'c']);
  });

  test('a packed store returns objects equal to the stored ones, also by index', () => {
    const store = new Store<Item>({ packed: true, indexes: { color: ({ colors }) => colors } });
    const changes: Change<Item>[] = [];
    store.subscribe((change) => changes.push(change));
    const [before, after] = [item('a', 1, ['red']), item('a', 2, ['blue'])];
    store.upsert(before);
    store.upsert(after);
    expect(store.get('a')).toEqual(after);
    expect(store.get('a')).not.toBe(after);
    expect(store.get('a')).toBe(store.get('a'));
    expect(store.byIndex('color', 'blue')).toEqual([after]);
    store.remove(after);
    expect(changes).toEqual([
      { type: 'added', key: 'a', object: before },
      { type: 'updated', key: 'a', object: after, previous: before },
      { type: 'deleted', key: 'a', object: after },
    ]);
    expect([store.size, store.byIndex('color', 'blue')]).toEqual([0, []]);
  });

  test('another uid under the same name is a deletion and an addition', () => {
    const { store, log } = storeWithLog();
    store.upsert(item('a', 1, ['red']));
    store.upsert(item('a', 5, ['blue'], 'other'));
    expect(log).toEqual(['added a 1', 'deleted a 1', 'added a 5']);
    expect(store.byIndex('color', 'red')).toEqual([]);
  });

  test('indexes follow added, updated and removed objects', () => {
    const { store } = storeWithLog();
    const find = (color: string) =>
      store.byIndex('color', color).map(({ metadata }) => metadata.name);
    store.upsert(item('a', 1, ['red', 'blue']));
    store.upsert(item('b', 2, ['red']));
    expect([find('red'), find('blue'), find('green')]).toEqual([['a', 'b'], ['a'], []]);
    store.upsert(item('a', 3, ['green']));
    expect([find('red'), find('blue'), find('green')]).toEqual([['b'], [], ['a']]);
    expect(store.indexValues('color').toSorted()).toEqual(['green', 'red']);
    store.remove(item('b', 4));
    expect(find('red')).toEqual([]);
  });

  test('byIndex throws for an unknown index', () => {
    expect(() => storeWithLog().store.byIndex('size', '1')).toThrow('store has no index size');
  });

  test('a throwing index leaves the store unchanged', () => {
    const store = new Store<Item>({
      indexes: {
        strict: ({ colors }) => {
          if (colors.length === 0) throw new Error('no color');
          return colors;
        },
      },
    });
    store.upsert(item('a', 1, ['red']));
    expect(() => store.upsert(item('a', 2))).toThrow('no color');
    expect(store.get('a')?.metadata.resourceVersion).toBe('1');
    expect(store.byIndex('strict', 'red')).toHaveLength(1);
  });

  test('a throwing listener does not block other listeners', () => {
    const { store, log } = storeWithLog();
    store.subscribe(() => {
      throw new Error('broken');
    });
    const later: string[] = [];
    store.subscribe(({ key }) => later.push(key));
    expect(() => store.upsert(item('a', 1))).toThrow(AggregateError);
    expect([log, later]).toEqual([['added a 1'], ['a']]);
    expect(store.get('a')).toBeDefined();
  });

  test('redeliver repeats a missed change until the listener accepts it', () => {
    const store = new Store<Item>();
    const received: string[] = [];
    let broken = true;
    store.subscribe(({ type, object }) => {
      if (broken) throw new Error('broken');
      received.push(`${type} ${object.metadata.resourceVersion}`);
    });
    expect(() => store.upsert(item('a', 1))).toThrow(AggregateError);
    expect(() => store.upsert(item('a', 2))).toThrow(AggregateError);
    expect(() => store.redeliver()).toThrow(AggregateError);
    broken = false;
    store.redeliver();
    store.redeliver();
    expect(received).toEqual(['updated 2']);
  });

  test('subscribe with replay reports existing objects as added', () => {
    const { store } = storeWithLog();
    store.upsert(item('a', 1));
    const received: string[] = [];
    store.subscribe(({ type, key }) => received.push(`${type} ${key}`), { replay: true });
    expect(received).toEqual(['added a']);
  });

  test('an unsubscribed listener gets no changes', () => {
    const store = new Store<Item>();
    const received: string[] = [];
    const unsubscribe = store.subscribe(({ key }) => received.push(key));
    unsubscribe();
    store.upsert(item('a', 1));
    expect(received).toEqual([]);
  });
});
