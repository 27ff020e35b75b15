import { describe, expect, onTestFinished, test } from 'vitest';
import { createFakeClock, settled } from '../../time/fake-clock.ts';
import type { Reflector } from '../cache/reflector.ts';
import { Store } from '../cache/store.ts';
import { KubeError } from '../errors.ts';
import type { KubeObject } from '../object.ts';
import {
  type ControllerOptions,
  createController,
  type ReconcileResult,
  sourceOf,
} from './controller.ts';

interface Item extends KubeObject {
  readonly owner?: string;
}

let version = 0;
function item(name: string, owner?: string): Item {
  const metadata = { name, uid: name, resourceVersion: String(++version) };
  return owner === undefined ? { metadata } : { metadata, owner };
}

/** A reflector the test syncs by hand. */
function manualReflector() {
  const synced = Promise.withResolvers<void>();
  const reflector: Reflector = {
    state: 'listing',
    name: 'Item',
    silentMs: undefined,
    synced: synced.promise,
    run: (signal) => new Promise((resolve) => signal.addEventListener('abort', () => resolve())),
  };
  return { reflector, sync: synced.resolve };
}

function bench(options: Partial<ControllerOptions> & Pick<ControllerOptions, 'reconcile'>) {
  const clock = createFakeClock();
  const results: ReconcileResult[] = [];
  const controller = createController({
    name: 'test',
    workers: 2,
    sources: [],
    reflectors: [],
    clock,
    random: () => 0.5,
    onResult: (result) => results.push(result),
    ...options,
  });
  const start = () => {
    const stop = new AbortController();
    const running = controller.run(stop.signal);
    const end = async (): Promise<void> => {
      stop.abort();
      await Promise.allSettled([running]);
    };
    onTestFinished(end);
    return { stop, running, end };
  };
  return { clock, controller, results, start };
}

describe('controller', () => {
  test('the controller reconciles existing, changed and deleted objects', async () => {
    const store = new Store<Item>();
    store.upsert(item('a'));
    const keys: string[] = [];
    const { start } = bench({
      sources: [sourceOf(store)],
      reconcile: async (key) => void keys.push(key),
    });
    start();
    await settled();
    store.upsert(item('b'));
    store.remove(item('a'));
    await settled();
    expect(keys).toEqual(['a', 'b', 'a']);
  });

  test('a source can map objects to different keys', async () => {
    const store = new Store<Item>();
    const keys: string[] = [];
    const { start } = bench({
      sources: [sourceOf(store, ({ object }) => (object.owner ? [object.owner] : []))],
      reconcile: async (key) => void keys.push(key),
    });
    start();
    store.upsert(item('a', 'x'));
    store.upsert(item('b'));
    await settled();
    expect(keys).toEqual(['x']);
  });

  test('a source without countsExisting reports later changes only', async () => {
    const store = new Store<Item>();
    store.upsert(item('a'));
    const keys: string[] = [];
    const { start } = bench({
      sources: [{ ...sourceOf(store), countsExisting: false }],
      reconcile: async (key) => void keys.push(key),
    });
    start();
    store.upsert(item('b'));
    await settled();
    expect(keys).toEqual(['b']);
  });

  test('the controller reconciles no key before every reflector has listed', async () => {
    const [first, second] = [manualReflector(), manualReflector()];
    const keys: string[] = [];
    const { controller, start } = bench({
      reflectors: [first.reflector, second.reflector],
      reconcile: async (key) => void keys.push(key),
    });
    start();
    controller.enqueue('a');
    first.sync();
    await settled();
    expect([keys, controller.depth]).toEqual([[], 1]);
    second.sync();
    await settled();
    expect(keys).toEqual(['a']);
  });

  test('the controller ends when stopped before the reflectors have listed', async () => {
    const { start } = bench({
      reflectors: [manualReflector().reflector],
      reconcile: async () => undefined,
    });
    await start().end();
  });

  test.each([
    ['fails', () => Promise.reject(new Error('broken')), 'broken'],
    ['ends by itself', () => Promise.resolve(), 'reflector 2 ended without a request to stop'],
  ])('a reflector that %s ends the controller', async (_, die, message) => {
    const first = manualReflector();
    const second = manualReflector();
    const dying = Promise.withResolvers<void>();
    const { clock, start } = bench({
      reflectors: [
        first.reflector,
        { ...second.reflector, run: () => dying.promise.then(() => die()) },
      ],
      reconcile: async () => undefined,
    });
    const { running } = start();
    const outcome = running.catch(String);
    for (const { sync } of [first, second]) sync();
    await clock.advance(60_000);
    dying.resolve();
    expect(await outcome).toBe(`Error: ${message}`);
  });

  test('a worker failure ends the controller', async () => {
    const { reflector, sync } = manualReflector();
    sync();
    const { controller, start } = bench({
      reflectors: [reflector],
      reconcile: async () => undefined,
      onResult: () => {
        throw new Error('no such label');
      },
    });
    const outcome = start().running.catch(String);
    controller.enqueue('a');
    expect(await outcome).toBe('Error: no such label');
  });

  test("a slow reconcile's late failure ends the controller", async () => {
    const { clock, controller, start } = bench({
      workers: 1,
      slowMs: 2_000,
      reconcile: () => clock.sleep(5_000),
      onResult: () => {
        throw new Error('no such label');
      },
    });
    const outcome = start().running.catch(String);
    controller.enqueue('a');
    await clock.advance(5_000);
    expect(await outcome).toBe('Error: no such label');
  });

  test('a worker leaves at most 64 slow reconciles running', async () => {
    let working = 0;
    const { clock, controller, start } = bench({
      workers: 1,
      slowMs: 10,
      reconcile: async (_, signal) => {
        working++;
        await clock.sleep(3_600_000, signal);
      },
    });
    start();
    for (let n = 0; n < 100; n++) controller.enqueue(`key-${n}`);
    await clock.advance(5_000);
    expect(working).toBe(65);
  });

  test('a failed reconcile is retried with backoff until success', async () => {
    let failures = 2;
    const { clock, controller, results, start } = bench({
      reconcile: async () => {
        if (failures-- > 0) throw new Error('not yet');
      },
    });
    start();
    controller.enqueue('a');
    await settled();
    await clock.advance(999);
    expect(results).toMatchObject([{ key: 'a', error: new Error('not yet') }]);
    await clock.advance(1);
    await clock.advance(2_000);
    expect(results.map(({ error }) => error === undefined)).toEqual([false, false, true]);
    expect(clock.waits).toEqual([]);
    failures = 1;
    controller.enqueue('a');
    await settled();
    expect(clock.waits).toEqual([1_000]);
  });

  test('a lane limits concurrent keys, and keys in other lanes overtake', async () => {
    const working = new Set<string>();
    const gates = new Map<string, () => void>();
    const { controller, start } = bench({
      workers: 4,
      lanes: { most: 1, of: (key) => [key[0] ?? ''] },
      reconcile: async (key) => {
        working.add(key);
        await new Promise<void>((resolve) => gates.set(key, resolve));
        working.delete(key);
      },
    });
    start();
    for (const key of ['a1', 'a2', 'b1']) controller.enqueue(key);
    await settled();
    controller.enqueue('a1');
    expect([...working]).toEqual(['a1', 'b1']);
    gates.get('a1')?.();
    await settled();
    expect([...working]).toEqual(['b1', 'a2']);
    gates.get('a2')?.();
    await settled();
    expect([...working]).toEqual(['b1', 'a1']);
    for (const open of gates.values()) open();
    await settled();
  });

  test('a worker continues past a slow reconcile, but never runs one key twice at once', async () => {
    const working: string[] = [];
    const gate = Promise.withResolvers<void>();
    const { clock, controller, start } = bench({
      workers: 1,
      slowMs: 2_000,
      reconcile: async (key) => {
        working.push(key);
        if (key === 'hung') await gate.promise;
      },
    });
    const { end } = start();
    for (const key of ['hung', 'well']) controller.enqueue(key);
    await clock.advance(1_999);
    expect(working).toEqual(['hung']);
    await clock.advance(1);
    controller.enqueue('hung');
    await settled();
    expect(working).toEqual(['hung', 'well']);
    const ended = end();
    gate.resolve();
    await ended;
    expect(working).toEqual(['hung', 'well']);
    expect(clock.waits).toEqual([]);
  });

  test('load() and the observer report the queue while a worker hangs', async () => {
    const events: string[] = [];
    const { clock, controller, start } = bench({
      workers: 1,
      observer: {
        added: () => events.push('added'),
        retried: () => events.push('retried'),
        taken: (waitedMs) => events.push(`taken after ${waitedMs}`),
      },
      reconcile: async (key, signal) => {
        if (key === 'bad') throw new Error('bad');
        await clock.sleep(40_000, signal);
      },
    });
    start();
    for (const key of ['bad', 'hung', 'waiting', 'waiting']) controller.enqueue(key);
    await clock.advance(30_000);
    expect(controller.load()).toEqual({
      depth: 2,
      active: 1,
      unfinishedMs: 30_000,
      longestMs: 30_000,
    });
    await clock.advance(10_000);
    expect(events).toEqual([
      'added',
      'added',
      'added',
      'taken after 0',
      'retried',
      'taken after 0',
      'added',
      'taken after 40000',
    ]);
  });

  test("a reconcile retry waits as long as the API server's Retry-After", async () => {
    const busy = new KubeError({
      status: 429,
      reason: 'Busy',
      message: 'busy',
      retryAfterMs: 60_000,
    });
    const { clock, controller, start } = bench({ reconcile: () => Promise.reject(busy) });
    start();
    controller.enqueue('a');
    await settled();
    expect(clock.waits).toEqual([60_000]);
  });

  test('a reconcile can request a requeue', async () => {
    const { clock, controller, results, start } = bench({
      reconcile: async () => ({ requeueAfterMs: 30_000 }),
    });
    start();
    controller.enqueue('a');
    await settled();
    await clock.advance(90_000);
    expect(results).toHaveLength(4);
  });

  test('onResult receives the reconcile duration', async () => {
    const { clock, controller, results, start } = bench({ reconcile: () => clock.sleep(250) });
    start();
    controller.enqueue('a');
    await clock.advance(250);
    expect(results).toEqual([{ key: 'a', durationMs: 250 }]);
  });

  test('the controller runs as many keys at once as it has workers', async () => {
    const { clock, controller, results, start } = bench({
      reconcile: (_, signal) => clock.sleep(100, signal),
    });
    start();
    for (const key of ['a', 'b', 'c']) controller.enqueue(key);
    await clock.advance(100);
    expect(results.map(({ key }) => key)).toEqual(['a', 'b']);
  });

  test('the controller waits for running work when stopped, and reports no failure', async () => {
    const finished: string[] = [];
    const { clock, controller, results, start } = bench({
      reconcile: async (key, signal) => {
        await clock.sleep(100);
        finished.push(key);
        signal.throwIfAborted();
      },
    });
    const { stop, running } = start();
    controller.enqueue('a');
    await settled();
    stop.abort();
    await clock.advance(100);
    await running;
    expect([finished, results, clock.waits]).toEqual([['a'], [], []]);
  });

  test('the controller refuses a second run, and runs again after its end with keys enqueued in between', async () => {
    const store = new Store<Item>();
    const keys: string[] = [];
    const { controller, start } = bench({
      sources: [sourceOf(store)],
      reconcile: async (key) => void keys.push(key),
    });
    const first = start();
    await expect(controller.run(first.stop.signal)).rejects.toThrow(
      'controller test is already running',
    );
    await first.end();
    store.upsert(item('a'));
    controller.enqueue('b');
    expect(keys).toEqual([]);
    start();
    await settled();
    expect(keys.toSorted()).toEqual(['a', 'b']);
  });
});
