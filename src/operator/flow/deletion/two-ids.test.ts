import { afterEach, beforeEach, expect, it } from 'vitest';
import { RequestError } from '../../../requests/request-error.ts';
import { FakeViola } from '../../testing/fake-viola.ts';
import { delivered, type Scene, serverIds, setScene } from '../../testing/scene.ts';

let scene: Scene;
let second: FakeViola;

beforeEach(async () => {
  scene = await setScene();
  await delivered(scene);
  second = scene.viola;
});

afterEach(async () => scene[Symbol.asyncDispose]());

const credentials = {
  openstackProviderID: 'cloud-1',
  k8sProviderID: 'biz-2',
  projectID: 'project-1',
};

/** biz-2 as a Viola of its own, with the objects of biz-1 under the same uids. */
function copy(): void {
  second = new FakeViola('second-');
  for (const node of scene.viola.nodes.values()) second.put(node);
}

const lists: Readonly<Record<string, () => void>> = {
  'the same objects': () => undefined,
  'the same objects, which biz-2 cannot read': () => {
    copy();
    for (const name of second.nodes.keys()) second.unreadable.add(name);
  },
  'the same objects, delivered under biz-1 as biz-2 refuses them': () => {
    copy();
    for (const node of second.nodes.values()) {
      second.put({ ...node, spec: { ...node.spec, providerId: 'biz-1' } });
      second.refused.set(node.nodeName, 'FieldConflict');
    }
  },
  'the same objects, in deletion with held NICs': () => {
    for (const node of scene.viola.nodes.values()) {
      const macs = (node.spec.interfaces ?? []).map(({ macAddress }) => macAddress);
      const status = { heldRemovals: { macs } };
      scene.viola.put({ ...node, deletionTimestamp: '2026-01-01T00:00:00Z', status });
    }
    copy();
  },
  'other objects': () => {
    second = new FakeViola('second-');
  },
  'other objects, and the later list of biz-2 fails': () => {
    const failing = new FakeViola('second-');
    second = new Proxy(failing, {
      get: (target, name, receiver: unknown) => {
        if (name !== 'list') return Reflect.get(target, name, receiver) as unknown;
        return async (query: Parameters<FakeViola['list']>[0]) => {
          if (query.fresh)
            throw new RequestError('away', { service: 'viola', kind: 'unreachable' });
          return target.list(query);
        };
      },
    });
  },
  nothing: () => {
    second = new FakeViola('second-');
    for (const node of scene.viola.nodes.values()) second.put(node);
    scene.viola.nodes.clear();
  },
};

/** Removals in the history, each with its basis. */
async function removed(): Promise<readonly string[]> {
  const changes = await scene.store.changes({ limit: 100 });
  return changes
    .flatMap(({ change }) => (change.change === 'removed' ? [change] : []))
    .map(({ nodeName, basis = 'unknown' }) => `${nodeName} ${basis}`)
    .toSorted();
}

const both = ['biz-1', 'biz-2'];
const settled = ['biz-2'];
const gone = ['worker-1 consent', 'worker-2 consent'];

/** Nodes that leave biz-1 without and with consent, then deliveredTo. */
it.each<[string, 'equal' | 'unknown', string[], string[], string[]]>([
  ['the same objects', 'equal', [], [], settled],
  ['the same objects', 'unknown', [], [], settled],
  ['the same objects, which biz-2 cannot read', 'unknown', [], [], both],
  ['the same objects, delivered under biz-1 as biz-2 refuses them', 'unknown', [], [], both],
  ['the same objects, in deletion with held NICs', 'unknown', [], [], settled],
  ['other objects', 'equal', [], [], both],
  ['other objects', 'unknown', [], gone, both],
  ['other objects, and the later list of biz-2 fails', 'unknown', [], [], both],
  ['nothing', 'equal', [], [], settled],
  ['nothing', 'unknown', [], [], settled],
])(
  'a move from biz-1 to biz-2 with %s and %s uid removes %j, with consent %j',
  async (listed, uid, without, withConsent, deliveredTo) => {
    lists[listed]?.();
    scene.otherViolas.set('biz-2', second);
    if (uid === 'equal') scene.viola.sameClusterIds.add('biz-1').add('biz-2');
    scene.edit({ credentials });
    for (let syncs = 0; syncs < 3; syncs++) await scene.look();
    expect(scene.viola.bases).toEqual(without);
    scene.kube.annotate({ 'multinic.io/allow-removals': 'yes' });
    for (let syncs = 0; syncs < 3; syncs++) await scene.look();
    expect(scene.viola.bases.toSorted()).toEqual(withConsent);
    expect(scene.status().deliveredTo).toEqual(deliveredTo);
  },
);

it('a move between two ids for a cluster changes no node, Ready or history, and records a single warning', async () => {
  const posts = scene.viola.posts.length;
  scene.otherViolas.set('biz-2', scene.viola);
  scene.edit({ credentials });
  await scene.look();
  const message =
    'business cluster "biz-2" is registered as "biz-1", too; keep the registration Secret of one id, set spec.credentials.k8sProviderID of all OpenstackConfigs for this cluster to that id, then delete the registration Secrets of the other ids';
  const warning = { status: 'False', reason: 'DuplicateCluster', message };
  expect(scene.condition('ClusterUnique')).toMatchObject(warning);
  expect(scene.ready()).toBe('True NoChange: no changes detected');
  expect(scene.status().heldRemovals).toBeUndefined();
  const writes = scene.kube.writes.length;
  for (let syncs = 0; syncs < 3; syncs++) await scene.look(60_000);
  scene.cloud.fail('portsOf', 'serverError');
  await scene.look(60_000);
  expect(scene.condition('ClusterUnique')).toMatchObject(warning);
  expect(scene.kube.writes.length - writes).toBe(1);
  const events = scene.events.filter(({ reason }) => reason === 'DuplicateCluster');
  expect(events).toMatchObject([{ type: 'Warning', message }]);
  expect(scene.viola.posts).toHaveLength(posts);
  expect((await scene.store.list()).map(({ providerId }) => providerId)).toEqual([
    'biz-2',
    'biz-2',
  ]);
  expect(await removed()).toEqual([]);
});

it('a node deselected together with a move between two ids leaves once, under the present id', async () => {
  scene.otherViolas.set('biz-2', scene.viola);
  scene.edit({ credentials, vmNames: serverIds.slice(1, 2) });
  for (let syncs = 0; syncs < 3; syncs++) await scene.look();
  expect(scene.viola.bases).toEqual(['worker-1 named']);
  expect(scene.status().removals).toMatchObject([{ nics: 1, nodes: 1 }]);
});

it('a deleted OpenstackConfig with two ids for a cluster removes and records each object once', async () => {
  scene.otherViolas.set('biz-2', scene.viola);
  scene.edit({ credentials });
  await scene.look();
  const { metadata } = scene.object() ?? expect.fail('the OpenstackConfig exists');
  const author = { namespace: 'multinic-system', name: 'osc', generation: 1 };
  const nodes = [...scene.viola.nodes.values()].map(({ nodeName, uid, generation, spec }) => {
    const { instanceId = '', interfaces = [] } = spec;
    return { nodeName, uid, generation, instanceId, interfaces };
  });
  await scene.store.record('biz-1', author, nodes);
  const status = { ...scene.status(), deliveredTo: both };
  await scene.kube.applyStatus(undefined as never, { metadata, status } as never, {} as never);
  scene.kube.delete();
  for (let n = 0; n < 5; n++) await scene.look(60_000);
  expect(scene.viola.bases).toEqual(['worker-1 named', 'worker-2 named']);
  expect(scene.status().removals).toMatchObject([{ nics: 2, nodes: 2 }]);
  scene.viola.clean();
  for (let n = 0; n < 2; n++) await scene.look(60_000);
  expect(scene.object()).toBeUndefined();
  expect(await removed()).toEqual(['worker-1 named', 'worker-2 named']);
});
