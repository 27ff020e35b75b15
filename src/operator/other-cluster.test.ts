import { afterEach, beforeEach, expect, it } from 'vitest';
import { attach, delivered, environment, type Scene, setScene } from './testing/scene.ts';

let scene: Scene;

beforeEach(async () => {
  scene = await setScene();
  await delivered(scene);
});

afterEach(async () => scene[Symbol.asyncDispose]());

/** Continues in another management cluster, with an OpenstackConfig of the same name. */
function moveOperator(env: Readonly<Record<string, string>> = {}): void {
  scene.kube.cluster = 'cluster-2';
  scene.restart({ ...environment, ...env });
  scene.create({}, { uid: 'other-uid' });
}

const sources = () =>
  [...scene.viola.nodes.values()].map(({ source }) => `${source?.cluster} ${source?.uid}`);
const untouched = ['cluster-1 cr-uid', 'cluster-1 cr-uid'];
const taken = ['cluster-2 other-uid', 'cluster-2 other-uid'];

it('nodes of another management cluster stay untouched by sync, deselection and deletion', async () => {
  moveOperator();
  await scene.look(300_000);
  expect(scene.ready()).toContain('False NameConflict');
  expect(scene.ready()).toContain('multinic.io/take-over-from: cluster-1/multinic-system/osc');
  scene.edit({ vmNames: [] });
  await scene.look(300_000);
  scene.kube.delete();
  for (let n = 0; n < 5; n++) await scene.look(300_000);
  expect(sources()).toEqual(untouched);
  expect(scene.viola.removals).toEqual([]);
  expect(scene.object()).toBeUndefined();
});

it.each<[string, () => void]>([
  [
    'the annotation names it',
    () => {
      moveOperator();
      const value = 'cluster-1/multinic-system/osc';
      scene.kube.annotate({ 'multinic.io/take-over-from': value });
    },
  ],
  ['FORMER_CLUSTERS lists it', () => moveOperator({ FORMER_CLUSTERS: 'cluster-1' })],
])('nodes of another management cluster are taken over when %s', async (_, take) => {
  take();
  await scene.look(300_000);
  await scene.look(300_000);
  expect(sources()).toEqual(taken);
  expect(scene.viola.removals).toEqual([]);
});

it('an operator without the uid of its cluster is Stalled and writes nothing', async () => {
  scene.kube.missing.add('kube-system');
  scene.restart();
  const before = scene.viola.posts.length;
  attach(scene.cloud, 9, 1);
  await scene.look(300_000);
  expect(scene.ready()).toContain('False ClusterIdentityUnread');
  expect(scene.condition('Stalled')).toMatchObject({ status: 'True' });
  expect([scene.viola.posts.length, scene.viola.removals]).toEqual([before, []]);
});

it('an object of an earlier uid without its cluster is continued, with a condition until the next POST', async () => {
  for (const node of scene.viola.nodes.values()) {
    const source = { namespace: 'multinic-system', name: 'osc', uid: 'earlier-uid', generation: 1 };
    scene.viola.put({ ...node, source });
  }
  await scene.look();
  expect(scene.ready()).toBe('True Synced: synced 2 nodes');
  expect(scene.condition('OwnerVerified')).toMatchObject({
    status: 'False',
    message: expect.stringMatching(
      /^owner unverified: worker-1 and worker-2 were delivered/,
    ) as unknown,
  });
  expect(sources()).toEqual(untouched);
  const before = scene.kube.writes.length;
  await scene.look();
  expect(scene.condition('OwnerVerified')).toBeUndefined();
  await scene.look();
  expect(scene.events.filter(({ reason }) => reason === 'OwnerUnverified')).toMatchObject([
    { type: 'Warning' },
  ]);
  expect(scene.kube.writes.slice(before)).toEqual(['status']);
});

it('a Viola that drops cluster and cloud gets no POST per poll', async () => {
  scene.viola.storesIdentity = false;
  for (const node of scene.viola.nodes.values()) {
    const { cluster: _c, cloud: _p, ...source } = node.source ?? { generation: 1 };
    scene.viola.put({ ...node, source: source as NonNullable<typeof node.source> });
  }
  const before = scene.viola.posts.length;
  for (let n = 0; n < 20; n++) await scene.look(60_000);
  expect(scene.viola.posts.length - before).toBe(0);
  scene.viola.storesIdentity = true;
  for (let n = 0; n < 20; n++) await scene.look(60_000);
  expect(scene.viola.posts.length - before).toBe(1);
  expect(sources()).toEqual(untouched);
});
