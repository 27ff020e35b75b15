import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { findCondition } from '../api/condition.ts';
import { KubeError } from '../kube/errors.ts';
import { statusOf } from './model/openstack-config.ts';
import { FakeViola } from './testing/fake-viola.ts';
import { delivered, type Scene, setScene, spec } from './testing/scene.ts';

let scene: Scene;

beforeEach(async () => {
  scene = await setScene();
  await delivered(scene);
  scene.viola.report('Configured');
  await scene.look();
});

afterEach(async () => scene[Symbol.asyncDispose]());

const minuteMs = 60_000;

function shown(): string {
  const of = (type: string) => {
    const { status, reason } = scene.condition(type) ?? {};
    return `${type} ${status} ${reason}`;
  };
  return `${of('NICsReady')}, ${of('Delivered')}, ${scene.status().summary?.nics}`;
}

const good = 'NICsReady True NICsConfigured, Delivered True Healthy, 2/2';
const failed = 'NICsReady False NICsNotConfigured, Delivered';

const refuseKeystone = (): void => {
  for (const call of ['portsOf', 'servers', 'subnet'])
    scene.cloud.fail(call, 'unauthorized', 'keystone');
};

/** Ways in which syncs end or do not run, with the conditions while all NICs are Failed and Viola answers. */
const outages: Readonly<Record<string, readonly [() => void, string]>> = {
  'Neutron unreachable': [
    () => scene.cloud.fail('portsOf', 'unreachable'),
    `${failed} Unknown NeutronPortError, 0/2`,
  ],
  'Keystone refuses the password': [() => refuseKeystone(), `${failed} Unknown KeystoneError, 0/2`],
  'Nova unreachable': [
    () => scene.cloud.fail('servers', 'unreachable'),
    `${failed} True Healthy, 0/2`,
  ],
  paused: [
    () => scene.kube.annotate({ 'multinic.io/paused': 'true' }),
    `${failed} True Healthy, 0/2`,
  ],
  'mode manual': [() => scene.trigger('mode: manual'), `${failed} True Healthy, 0/2`],
  'mode webhook': [() => scene.trigger('mode: webhook'), `${failed} True Healthy, 0/2`],
};

describe.each(Object.entries(outages))('%s', (_, [begin, expected]) => {
  it('[N7] NICsReady follows the business cluster within 90 s', async () => {
    begin();
    await scene.look();
    scene.viola.report('Failed');
    await scene.readNodes(90_000);
    expect(shown()).toBe(expected);
  });

  it('[N7] no condition is True three minutes after the last answer of Viola, and a later answer restores NICsReady', async () => {
    begin();
    await scene.look();
    await scene.readNodes(2 * minuteMs);
    scene.viola.fail(503);
    await scene.readNodes(3 * minuteMs);
    const { conditions = [] } = scene.status();
    const unread = conditions.filter(({ type }) => ['NICsReady', 'Delivered'].includes(type));
    expect(unread.map(({ status }) => status)).toEqual(['Unknown', 'Unknown']);
    expect(scene.condition('NICsReady')?.message).toMatch(/last read at 2026-01-01T00:0\d:\d\dZ/);
    expect(scene.status().summary?.nics).toBe('?/2');
    scene.viola.outage = undefined;
    await scene.readNodes(90_000);
    expect(shown()).toContain('NICsReady True NICsConfigured');
  });
});

it('[N7] an OpenstackConfig at rest costs one read a minute and no status write', async () => {
  scene.trigger('mode: webhook');
  await scene.readNodes(minuteMs);
  const [writes, reads] = [scene.kube.writes.length, scene.viola.factReads];
  await scene.readNodes(10 * minuteMs);
  expect(scene.viola.factReads - reads).toBe(10);
  expect(scene.kube.writes).toHaveLength(writes);
  expect(shown()).toBe(good);
});

it('[N7] Delivered is False with NodeConfigChanged after a user deleted a MultiNicNodeConfig while paused', async () => {
  scene.kube.annotate({ 'multinic.io/paused': 'true' });
  await scene.look();
  scene.viola.nodes.delete('worker-2');
  await scene.readNodes(90_000);
  expect(shown()).toBe('NICsReady False NICsNotConfigured, Delivered False NodeConfigChanged, 1/2');
  expect(scene.condition('Delivered')?.message).toBe(
    'node worker-2: its MultiNicNodeConfig does not exist',
  );
});

describe.each(['mode: webhook', 'paused'])('[N7] a new leader, %s', (how) => {
  beforeEach(async () => {
    if (how === 'paused') scene.kube.annotate({ 'multinic.io/paused': 'true' });
    else scene.trigger(how);
    await scene.look();
    scene.restart();
  });

  it('confirms the conditions by reads alone', async () => {
    const writes = scene.kube.writes.length;
    await scene.readNodes(5 * minuteMs);
    expect(shown()).toBe(good);
    expect(scene.kube.writes).toHaveLength(writes);
    scene.viola.report('Failed');
    await scene.readNodes(90_000);
    expect(shown()).toBe(`${failed} True Healthy, 0/2`);
  });

  it('reports NodesNotRead within 30 s while Viola is unreachable, and recovers with Viola', async () => {
    scene.viola.fail(503);
    await scene.readNodes(30_000);
    expect(shown()).toBe('NICsReady Unknown NodesNotRead, Delivered Unknown NodesNotRead, ?/2');
    scene.viola.outage = undefined;
    await scene.readNodes(90_000);
    expect(shown()).toBe(good);
  });
});

it('[N7] a hanging Viola ends the conditions within three minutes', async () => {
  scene.trigger('mode: webhook');
  await scene.readNodes(2 * minuteMs);
  scene.viola.beforeFacts = new Promise(() => undefined);
  await scene.readNodes(3 * minuteMs);
  expect(shown()).toBe('NICsReady Unknown NodesNotRead, Delivered Unknown NodesNotRead, ?/2');
  scene.viola.beforeFacts = undefined;
  await scene.readNodes(2 * minuteMs);
  expect(shown()).toBe(good);
});

it('[N7] a failed status write is repeated', async () => {
  scene.trigger('mode: manual');
  scene.viola.report('Failed');
  const { applyStatus } = scene.kube;
  scene.kube.applyStatus = async () => {
    throw new KubeError({ status: 409, reason: 'Conflict', message: 'modified' });
  };
  await scene.readNodes(90_000);
  expect(shown()).toBe(good);
  scene.kube.applyStatus = applyStatus;
  await scene.readNodes(90_000);
  expect(shown()).toBe(`${failed} True Healthy, 0/2`);
});

const unready = { status: 'Unknown' as const, reason: 'NodeNotReady' };

it.each([
  { title: 'Ready Unknown', conditions: [{ type: 'Ready', ...unready }] },
  ...['RemovalHeld', 'InvalidEntries'].map((reason) => ({
    title: `Ready False with ${reason}`,
    conditions: [
      { type: 'Ready', status: 'False' as const, reason },
      { type: 'NodeReady', ...unready },
    ],
  })),
])(
  '[N15] NICsReady does not count the NICs of a node that has not been ready: $title',
  async ({ conditions }) => {
    const node = scene.viola.nodes.get('worker-1');
    if (!node) throw new Error('no node worker-1');
    scene.viola.put({ ...node, status: { ...node.status, state: 'Pending', conditions } });
    await scene.readNodes(90_000);
    expect(shown()).toBe('NICsReady False NICsNotConfigured, Delivered True Healthy, 1/2');
    expect(scene.condition('NICsReady')?.message).toContain('NodeNotReady');
  },
);

it('[N11] NICsReady does not count a drifted NIC although its status stays Configured', async () => {
  scene.viola.report('Configured', 'Drifted');
  await scene.look();
  expect(shown()).toBe('NICsReady False NICsNotConfigured, Delivered True Healthy, 0/2');
  expect(scene.condition('NICsReady')?.message).toContain('node worker-1: 0 of 1, Drifted: ');
});

it.each<[string, () => void, string]>([
  [
    'a refused edit',
    () => scene.edit({ subnetIDs: [] }),
    'NICsReady Unknown Error, Delivered Unknown SubnetRequired, ?/2',
  ],
  [
    'an edit while Keystone refuses the password',
    () => {
      refuseKeystone();
      scene.edit({ settings: { portBaseline: 'All' } });
    },
    'NICsReady Unknown Error, Delivered Unknown KeystoneError, 2/2',
  ],
  [
    'a deletion while Viola is down',
    () => {
      scene.viola.fail(503);
      scene.kube.delete();
    },
    'NICsReady undefined undefined, Delivered undefined undefined, ?/2',
  ],
  [
    'an edit of the business cluster while paused',
    () => {
      scene.otherViolas.set('biz-2', new FakeViola('2'));
      scene.kube.annotate({ 'multinic.io/paused': 'true' });
      scene.edit({ credentials: { ...spec.credentials, k8sProviderID: 'biz-2' } });
    },
    'NICsReady Unknown Error, Delivered Unknown NodesNotRead, ?/2',
  ],
])('[N7] no NIC count and no NICsReady is left from before %s', async (_, begin, expected) => {
  begin();
  await scene.look();
  await scene.readNodes(4 * minuteMs);
  expect(shown()).toBe(expected);
  expect(scene.condition('NICsReady')?.message ?? '').not.toContain('running');
});

/** Delivers to this many business clusters; returns their OpenstackConfigs. */
async function deliverTo(count: number): Promise<string[]> {
  const keys = Array.from({ length: count }, (_, n) => {
    const id = `biz-${String(n).padStart(3, '0')}`;
    scene.otherViolas.set(id, new FakeViola(id));
    const credentials = { ...spec.credentials, k8sProviderID: id };
    scene.kube.create({ ...spec, credentials }, { name: id, uid: `u-${id}`, generation: 1 });
    return `multinic-system/${id}`;
  });
  for (let round = 0; round < 2; round++) {
    for (const key of keys) await scene.lookAt(key);
    for (const viola of scene.otherViolas.values()) viola.report('Configured');
  }
  return keys;
}

it.each([
  { clusters: 100, hanging: 0 },
  { clusters: 40, hanging: 12 },
])(
  '[N7] $hanging hanging of $clusters business clusters leave the others read, at rest and after a restart',
  async ({ clusters, hanging }) => {
    const keys = await deliverTo(clusters);
    scene.trigger('mode: manual');
    await scene.readNodes(3 * minuteMs);
    if (hanging === 0) scene.restart();
    const violas = [...scene.otherViolas.values()];
    for (const viola of violas.slice(0, hanging)) viola.beforeFacts = new Promise(() => undefined);
    const before = scene.kube.writes.length;
    await scene.readNodes(5 * minuteMs);
    const unread = keys.slice(hanging).filter((key) => {
      const object = scene.kube.configs.get(key);
      return !object || findCondition(statusOf(object).conditions, 'NICsReady')?.status !== 'True';
    });
    expect(unread).toEqual([]);
    // Only hanging clusters' conditions change.
    expect(scene.kube.writes.length - before).toBeLessThanOrEqual(hanging);
  },
);
