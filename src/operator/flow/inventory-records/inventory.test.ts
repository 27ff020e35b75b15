import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { metricTable } from '../../../api/metrics.ts';
import { createPerform } from '../../../process/effects.ts';
import { createLogger } from '../../../process/log.ts';
import { createMetrics } from '../../../process/metrics.ts';
import type { StoredNode } from '../../../store/node-configs.ts';
import { Store } from '../../../store/store.ts';
import { createFakeClock, type FakeClock } from '../../../time/fake-clock.ts';
import { createInventory, type Inventory } from './inventory.ts';

const author = { namespace: 'n', name: 'osc', generation: 1 };
const entry = { id: 0, name: 'multinic0', portId: 'p0', macAddress: 'fa:16:3e:00:00:00' };
const node: StoredNode = {
  nodeName: 'worker-1',
  instanceId: 'server-1',
  uid: 'uid-1',
  generation: 1,
  interfaces: [entry],
};

let clock: FakeClock;
let metrics: ReturnType<typeof createMetrics<typeof metricTable>>;
let store: Store;
let inventory: Inventory;
/** Failure mode of the database; each call is counted. */
let broken: 'hangs' | 'refuses' | 'readOnly' | 'slow' | undefined;
/** Completed when the slow database is free: calls run singly. */
let served: Promise<void>;
let calls: number;
/** Thrown at the next write, as if the process were killed. */
let death: Error | undefined;

beforeEach(async () => {
  clock = createFakeClock();
  metrics = createMetrics(metricTable);
  broken = undefined;
  served = Promise.resolve();
  death = undefined;
  calls = 0;
  store = await Store.open({ kind: 'sqlite', path: ':memory:' }, { now: () => clock.now() });
  inventory = createInventory({
    store: {
      authors: async () => through(async () => store.authors()),
      fingerprint: async (...of) => through(async () => store.fingerprint(...of)),
      forget: async (of) => through(async () => store.forget(of), true),
      nicsOf: async (ids) => through(async () => store.nicsOf(ids)),
      objectsOf: async (provider, of) => through(async () => store.objectsOf(provider, of)),
      nodesOf: async (of) => through(async () => store.nodesOf(of)),
      record: async (...values) => through(async () => store.record(...values), true),
    },
    perform: createPerform(() => {
      if (death) throw death;
    }),
    clock,
    log: createLogger({ part: 'test', level: 'silent' }),
    metrics,
  });
});

afterEach(async () => store[Symbol.asyncDispose]());

async function through<T>(work: () => Promise<T>, isWrite = false): Promise<T> {
  calls += 1;
  if (broken === 'refuses') throw new Error('ECONNREFUSED');
  if (broken === 'readOnly' && isWrite) throw new Error('ER_OPTION_PREVENTS_STATEMENT');
  if (broken === 'hangs') return new Promise<T>(() => undefined);
  if (broken === 'slow') {
    served = served.then(async () => clock.sleep(2_000));
    await served;
  }
  return work();
}

describe('inventory with a slow database', () => {
  it('concurrent writes to a slow database each have the full timeout', async () => {
    broken = 'slow';
    const nodes = ['worker-1', 'worker-2', 'worker-3'].map((nodeName) => ({ ...node, nodeName }));
    const writes = nodes.map(async (each) =>
      inventory.record('biz-1', { ...author, name: each.nodeName }, [each]),
    );
    for (let seconds = 0; seconds < 8; seconds += 1) await clock.advance(1_000);
    await Promise.all(writes);
    const counted = await metrics.registry.getSingleMetricAsString(
      'multinic_inventory_calls_total',
    );
    expect(counted).toMatch(/\{result="success"\} 3$/);
  });
});

it("a record written while the same OpenstackConfig's records are being deleted stays", async () => {
  await inventory.record('biz-1', author, [node]);
  broken = 'slow';
  const forgotten = inventory.forget(author);
  broken = undefined;
  await inventory.record('biz-1', author, [node]);
  await clock.advance(2_000);
  await forgotten;
  expect((await store.list()).map(({ nodeName }) => nodeName)).toEqual(['worker-1']);
});

describe('inventory with its database down', () => {
  it('multinic_inventory_calls_total counts failed calls, but no skipped calls', async () => {
    await inventory.authors();
    broken = 'refuses';
    for (let n = 0; n < 3; n += 1) await inventory.authors();
    const name = 'multinic_inventory_calls_total';
    const counted = await metrics.registry.getSingleMetricAsString(name);
    expect(counted).toContain('{result="success"} 1\n');
    expect(counted).toMatch(/\{result="error"\} 1$/);
  });

  it("nodesOf returns undefined, and nicsOf this process' deliveries, while the database is down", async () => {
    await inventory.record('biz-1', author, [node]);
    broken = 'refuses';
    expect(await inventory.nodesOf(author)).toBeUndefined();
    expect(await inventory.nicsOf(['server-2'])).toEqual([]);
    expect(await inventory.nicsOf(['SERVER-1'])).toMatchObject([{ instanceId: 'server-1' }]);
    expect(await inventory.authors()).toEqual([]);
  });

  it('nicsOf returns the last 20,000 delivered servers while the database is down', async () => {
    broken = 'refuses';
    const servers = Array.from({ length: 20_000 }, (_, n) => ({ ...node, instanceId: `s${n}` }));
    await inventory.record('biz-1', author, servers);
    await inventory.record('biz-1', author, [{ ...node, instanceId: 's0' }, node]);
    const known = await inventory.nicsOf(['server-1', 's0', 's1', 's2']);
    expect(known.map(({ instanceId }) => instanceId)).toEqual(['server-1', 's0', 's2']);
  });

  it('a hanging database delays one sync by 3 s, and later syncs by nothing until 30 s have passed', async () => {
    broken = 'hangs';
    const first = inventory.record('biz-1', author, [node]);
    await clock.advance(3_000);
    await first;
    for (let sync = 0; sync < 5; sync++) await inventory.record('biz-1', author, [node]);
    expect([calls, clock.waits]).toEqual([1, []]);
    broken = undefined;
    await clock.advance(30_000);
    await inventory.record('biz-1', author, [node]);
    expect(await store.list()).toHaveLength(1);
  });

  it('records of OpenstackConfigs deleted during an outage are removed afterwards, unless the OpenstackConfig returned', async () => {
    const again = { ...author, name: 'again' };
    await inventory.record('biz-1', author, [node]);
    await inventory.record('biz-1', again, [{ ...node, nodeName: 'worker-2' }]);
    broken = 'refuses';
    await inventory.forget(author);
    await inventory.forget(again);
    expect(await store.list()).toHaveLength(2);
    broken = undefined;
    await clock.advance(30_000);
    await inventory.record('biz-1', again, [{ ...node, nodeName: 'worker-2' }]);
    expect((await store.list()).map(({ nodeName }) => nodeName)).toEqual(['worker-2']);
  });
});

describe('inventory with a read-only database', () => {
  it('a read-only database is read for servers without a delivery by this process', async () => {
    await store.record('biz-1', author, [node]);
    broken = 'readOnly';
    const another = { ...node, nodeName: 'worker-2', instanceId: 'server-2' };
    await inventory.record('biz-1', author, [another]);
    expect(await inventory.nicsOf(['server-1'])).toMatchObject([{ instanceId: 'server-1' }]);
    expect(await inventory.nodesOf(author)).toEqual(new Map([['biz-1', ['worker-1']]]));
  });

  it("this process' delivery wins over a read-only database's older record", async () => {
    await inventory.record('biz-1', author, [node]);
    broken = 'readOnly';
    const renamed = { ...node, generation: 2, interfaces: [{ ...entry, name: 'multinic7' }] };
    await inventory.record('biz-1', author, [renamed]);
    await clock.advance(30_000);
    const names = async () => {
      const nodes = await inventory.nicsOf(['server-1']);
      return nodes.flatMap(({ interfaces }) => interfaces.map(({ name }) => name));
    };
    expect(await names()).toEqual(['multinic7']);
    broken = undefined;
    await inventory.record('biz-1', author, [renamed]);
    expect(await names()).toEqual(['multinic7']);
  });

  it('a read-only database gets no further write for 30 s', async () => {
    broken = 'readOnly';
    await inventory.record('biz-1', author, [node]);
    await inventory.authors();
    const before = calls;
    await inventory.record('biz-1', author, [node]);
    expect(calls).toBe(before);
    broken = undefined;
    await clock.advance(30_000);
    await inventory.record('biz-1', author, [node]);
    expect(await store.list()).toHaveLength(1);
  });

  it('a database that cannot be read gets no write', async () => {
    broken = 'refuses';
    await inventory.authors();
    await inventory.record('biz-1', author, [node]);
    expect(calls).toBe(1);
  });
});

it('an error of the process itself is rethrown, not treated as a database failure', async () => {
  await inventory.record('biz-1', author, [node]);
  death = new Error('killed');
  await expect(inventory.record('biz-1', author, [])).rejects.toBe(death);
  await expect(inventory.forget(author)).rejects.toBe(death);
  death = undefined;
  expect(await inventory.nodesOf(author)).toEqual(new Map([['biz-1', ['worker-1']]]));
});
