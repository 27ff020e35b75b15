import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { configured, ReadApiFixture } from '../../test/fixtures/read-api.ts';
import type { NodeConfigStatus } from '../api/multinicnodeconfig.ts';
import type { NodeView, PortView } from '../api/read-http.ts';
import { configReads } from './serve/read-api/config-reads.ts';
import { attach, detach, type Scene } from './testing/scene.ts';

let api: ReadApiFixture;
let scene: Scene;

const status = (change: Partial<NodeConfigStatus> = {}): NodeConfigStatus => ({
  ...configured('p1', 'fa:16:3e:00:00:01'),
  ...change,
});
const nicStatus = (change: object) => [
  { ...configured('p1', 'fa:16:3e:00:00:01').interfaceStatuses?.[0], ...change },
];

beforeEach(async () => {
  api = await ReadApiFixture.open();
  ({ scene } = api);
  await api.deliver();
  api.report('worker-1', status());
  for (let poll = 0; poll < 3; poll++) await scene.look();
});

afterEach(async () => api[Symbol.asyncDispose]());

/** Returns answers from read API and inventory, without sync times. */
async function visible() {
  const nodes = (await api.get<NodeView>('nodes')).items;
  const records = await scene.store.list();
  const ports = (await api.get<PortView>('ports')).items;
  const notes = await scene.store.notesOf(records);
  const clusters = (await api.get('clusters')).items;
  return {
    nodes: nodes.map(({ observedAt: _at, ...node }) => node),
    ports,
    clusters,
    records,
    notes: records.flatMap(({ config: { interfaces } }) =>
      interfaces.map(({ portId = '' }) => notes.of('biz-1', portId)),
    ),
    changes: await scene.store.changes({ limit: 100 }),
  };
}

const rows = () => configReads.of(scene.memory()?.term ?? expect.fail('no memory'))?.rows;

/** Changes after polls without changes. */
const changes: readonly (readonly [what: string, change: () => void])[] = [
  ['the state of a node', () => api.report('worker-1', status({ state: 'Failed' }))],
  [
    'the state of a NIC',
    () => api.report('worker-1', status({ interfaceStatuses: nicStatus({ status: 'Failed' }) })),
  ],
  [
    'the time of a NIC change',
    () =>
      api.report(
        'worker-1',
        status({ interfaceStatuses: nicStatus({ lastUpdated: '2026-01-01T00:01:00Z' }) }),
      ),
  ],
  [
    'the time of a NIC check',
    () =>
      api.report(
        'worker-1',
        status({ interfaceStatuses: nicStatus({ lastChecked: '2026-01-01T00:01:00Z' }) }),
      ),
  ],
  [
    'the time of a node check',
    () => api.report('worker-1', status({ applied: { checkedAt: '2026-01-01T00:02:00Z' } })),
  ],
  [
    'the start of a deletion',
    () => {
      const node = scene.viola.nodes.get('worker-1') ?? expect.fail('worker-1 was delivered');
      scene.viola.put({ ...node, deletionTimestamp: '2026-01-01T00:02:00Z' });
    },
  ],
  ['a deleted object', () => scene.viola.nodes.delete('worker-1')],
  ['an unreadable object', () => scene.viola.unreadable.add('worker-1')],
  ['an attached port', () => attach(scene.cloud, 3, 1)],
  ['a detached port', () => detach(scene.cloud, 2)],
  [
    'a port status',
    () => {
      scene.cloud.ports = scene.cloud.ports.map((port) => ({ ...port, status: 'BUILD' }));
    },
  ],
  [
    'a network name',
    () => {
      scene.cloud.networks = scene.cloud.networks.map((one) => ({ ...one, name: 'storage' }));
    },
  ],
  [
    'a subnet name',
    () => {
      scene.cloud.subnets = scene.cloud.subnets.map((one) => ({ ...one, name: 'renamed' }));
    },
  ],
  [
    'a refused node',
    () => {
      scene.viola.refused.set('worker-1', 'Invalid');
      attach(scene.cloud, 3, 1);
    },
  ],
  [
    'a waiting node',
    () => {
      scene.viola.refused.set('worker-1', 'Deleting');
      attach(scene.cloud, 3, 1);
    },
  ],
];

describe('polls without changes', () => {
  it('a poll without changes packs no node, writes no record, and renews observedAt', async () => {
    const record = vi.spyOn(scene.store, 'record');
    const [before, first] = [rows(), (await api.get<NodeView>('nodes')).items[0]?.observedAt];
    await scene.look();
    await scene.look();
    expect(rows()).toBe(before);
    expect(record).not.toHaveBeenCalled();
    const [node] = (await api.get<NodeView>('nodes')).items;
    expect(Date.parse(node?.observedAt ?? '')).toBeGreaterThan(Date.parse(first ?? ''));
  });

  it.each(changes)('polls after %s show and store the same as a new term', async (_, change) => {
    const before = await visible();
    change();
    await scene.look();
    expect(await visible()).not.toEqual(before);
    await scene.look();
    const after = await visible();
    scene.leadAgain();
    await scene.look();
    expect(await visible()).toEqual(after);
  });

  it('a poll after a refused node shows the node as delivered', async () => {
    scene.viola.refused.set('worker-1', 'Invalid');
    attach(scene.cloud, 3, 1);
    await scene.look();
    scene.viola.refused.clear();
    await scene.look();
    await scene.look();
    const after = await visible();
    scene.leadAgain();
    await scene.look();
    expect(await visible()).toEqual(after);
    expect(JSON.stringify(after.ports)).not.toContain('refused');
  });

  it('a restarted operator packs the nodes again', async () => {
    const before = await visible();
    scene.restart();
    await scene.look();
    expect(await visible()).toEqual(before);
    expect(rows()).toHaveLength(2);
  });
});

describe('inventory records of polls without changes', () => {
  it('the next poll restores records that the database lost', async () => {
    const before = await scene.store.list();
    const author = { namespace: 'multinic-system', name: 'osc', generation: 1 };
    await scene.store.record('biz-1', author, []);
    await scene.look();
    const configs = (records: typeof before) => records.map(({ config }) => config);
    expect(configs(await scene.store.list())).toEqual(configs(before));
  });

  it('a poll records a port status that an earlier poll observed without the database', async () => {
    scene.failStore(new Error('read-only'));
    scene.cloud.ports = scene.cloud.ports.map((port) => ({ ...port, status: 'BUILD' }));
    await scene.look();
    await scene.look();
    scene.failStore(undefined);
    await scene.look(60_000);
    const notes = await scene.store.notesOf(await scene.store.list());
    expect(notes.of('biz-1', 'p1')).toMatchObject({ portStatus: 'BUILD' });
  });
});
