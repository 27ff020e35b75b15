import { afterEach, beforeEach, expect, it } from 'vitest';
import { FakeViola } from '../../testing/fake-viola.ts';
import { legacySettings, setLegacyScene } from '../../testing/legacy-scene.ts';
import { attach, delivered, detach, type Scene, serverIds, setScene } from '../../testing/scene.ts';

let scene: Scene;

beforeEach(async () => {
  scene = await setScene();
});

afterEach(async () => scene[Symbol.asyncDispose]());

/** Returns the logged removals, oldest first. */
async function removed({ store }: Scene): Promise<string[]> {
  const changes = await store.changes({ limit: 100 });
  return changes
    .map(({ change }) => change)
    .filter(({ change }) => change === 'removed')
    .map(({ providerId, nodeName, portId, basis }) => {
      return `${providerId} ${nodeName} ${portId} ${basis ?? 'unknown'}`;
    })
    .toReversed();
}

/** Lets the deletion of nodes finish. */
async function clean(): Promise<void> {
  await scene.look();
  expect(await removed(scene)).toEqual([]);
  scene.viola.clean();
  await scene.look();
}

/** Lets the deletion of nodes finish while the database is down; the database works again afterwards. */
async function duringOutage(): Promise<void> {
  scene.failStore(new Error('ECONNREFUSED'));
  await scene.look();
  scene.viola.clean();
  await scene.look();
  scene.failStore(undefined);
  await scene.look(60_000);
  await scene.look(60_000);
}

const deselected = { vmNames: serverIds.slice(0, 1) };

it.each<[what: string, act: () => Promise<unknown>, expected: readonly string[]]>([
  [
    'evidence of a deleted port',
    async () => {
      detach(scene.cloud, 1);
      await scene.look();
    },
    ['biz-1 worker-1 p1 evidence'],
  ],
  [
    'evidence delivered by a partial sync',
    async () => {
      await scene.look();
      detach(scene.cloud, 1, false);
      await scene.clock.advance(10);
      scene.cloudEvent({ servers: serverIds.slice(0, 1) });
      await scene.reconcile(300);
      expect(scene.nics('worker-1')).toEqual([]);
      expect(await removed(scene)).toEqual([]);
      await scene.look(600_000);
    },
    ['biz-1 worker-1 p1 evidence'],
  ],
  [
    'an edit of the subnets',
    async () => {
      attach(scene.cloud, 3, 1);
      scene.edit({ subnetIDs: ['sub-b'] });
      await scene.look();
    },
    ['biz-1 worker-1 p1 named', 'biz-1 worker-2 p2 named'],
  ],
  [
    'an edit of the servers, logged when the deleted node is clean',
    async () => {
      scene.edit(deselected);
      await clean();
    },
    ['biz-1 worker-2 p2 named'],
  ],
  [
    'an edit before a restart during the deletion: unknown',
    async () => {
      scene.edit(deselected);
      await scene.look();
      scene.restart();
      scene.viola.clean();
      await scene.look();
    },
    ['biz-1 worker-2 p2 unknown'],
  ],
  [
    'the consent to removals above the budget',
    async () => {
      for (let n = 3; n <= 11; n++) attach(scene.cloud, n, 1);
      await scene.look();
      scene.edit({ subnetIDs: ['sub-b'] });
      await scene.look();
      expect(await removed(scene)).toEqual([]);
      scene.kube.annotate({ 'multinic.io/allow-removals': 'yes' });
      await scene.look();
    },
    [
      ...[1, 3, 4, 5, 6, 7, 8, 9, 10, 11].map((n) => `biz-1 worker-1 p${n} consent`),
      'biz-1 worker-2 p2 consent',
    ],
  ],
  [
    'a deleted OpenstackConfig',
    async () => {
      scene.kube.delete();
      await clean();
    },
    ['biz-1 worker-1 p1 named', 'biz-1 worker-2 p2 named'],
  ],
  [
    'a deleted OpenstackConfig with deletionPolicy Delete',
    async () => {
      scene.edit({ settings: { deletionPolicy: 'Delete' } });
      await scene.look();
      scene.kube.delete();
      await clean();
    },
    ['biz-1 worker-1 p1 consent', 'biz-1 worker-2 p2 consent'],
  ],
  [
    'a deleted OpenstackConfig with deletionPolicy Retain: unknown, because the NICs stay',
    async () => {
      scene.edit({ settings: { deletionPolicy: 'Retain' } });
      await scene.look();
      scene.kube.delete();
      await scene.look();
    },
    ['biz-1 worker-1 p1 unknown', 'biz-1 worker-2 p2 unknown'],
  ],
  [
    'an edit, but of no later removal of the same NIC',
    async () => {
      scene.edit(deselected);
      await clean();
      scene.edit({ settings: { deletionPolicy: 'Retain' } });
      await scene.look();
      scene.kube.delete();
      await scene.look();
    },
    ['biz-1 worker-2 p2 named', 'biz-1 worker-1 p1 unknown', 'biz-1 worker-2 p2 unknown'],
  ],
  [
    'a deletion of the object in the business cluster: no removal',
    async () => {
      scene.viola.nodes.delete('worker-1');
      await scene.look();
    },
    [],
  ],
  [
    'the consent to leave a former business cluster',
    async () => {
      scene.otherViolas.set('biz-2', new FakeViola('second-'));
      const credentials = { openstackProviderID: 'cloud-1', projectID: 'project-1' };
      scene.edit({ credentials: { ...credentials, k8sProviderID: 'biz-2' } });
      await scene.look();
      scene.kube.annotate({ 'multinic.io/allow-removals': 'yes' });
      await clean();
    },
    ['biz-1 worker-1 p1 consent', 'biz-1 worker-2 p2 consent'],
  ],
  [
    'an edit while the database is down',
    async () => {
      scene.edit(deselected);
      await duringOutage();
    },
    ['biz-1 worker-2 p2 named'],
  ],
  [
    'a deleted OpenstackConfig while the database is down',
    async () => {
      scene.kube.delete();
      await duringOutage();
    },
    ['biz-1 worker-1 p1 named', 'biz-1 worker-2 p2 named'],
  ],
  [
    'the consent to leave a former business cluster while the database is down',
    async () => {
      scene.otherViolas.set('biz-2', new FakeViola('second-'));
      const credentials = { openstackProviderID: 'cloud-1', projectID: 'project-1' };
      scene.edit({ credentials: { ...credentials, k8sProviderID: 'biz-2' } });
      await scene.look();
      scene.kube.annotate({ 'multinic.io/allow-removals': 'yes' });
      await duringOutage();
    },
    ['biz-1 worker-1 p1 consent', 'biz-1 worker-2 p2 consent'],
  ],
])('the change log names the basis of a removal by %s', async (_, act, expected) => {
  await delivered(scene);
  await act();
  expect(await removed(scene)).toEqual(expected);
});

it.each<[basis: string, act: (legacy: Scene) => unknown]>([
  ['evidence', ({ cloud }) => detach(cloud, 3)],
  ['named', ({ edit }) => edit({ settings: legacySettings, subnetIDs: ['sub-b'] })],
])('the change log names the basis %s of a removal by a legacy Viola', async (basis, act) => {
  const { scene: found } = await setLegacyScene();
  await using legacy = found;
  const { cloud } = legacy;
  for (const n of [1, 3]) attach(cloud, n, 1);
  const inB = [{ subnetId: 'sub-b', ipAddress: '10.0.20.1' }];
  cloud.ports = cloud.ports.map((port) =>
    port.id === 'p1' ? { ...port, networkId: 'net-b', fixedIps: inB } : port,
  );
  legacy.create({ settings: legacySettings, subnetIDs: ['sub-a', 'sub-b'] });
  await legacy.look();
  act(legacy);
  await legacy.look();
  expect(await removed(legacy)).toEqual([`biz-1 worker-1 p3 ${basis}`]);
});
