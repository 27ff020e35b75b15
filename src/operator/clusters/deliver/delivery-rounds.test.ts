import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { attach, detach, type Scene, serverIds, setScene } from '../../testing/scene.ts';

let scene: Scene;

beforeEach(async () => {
  scene = await setScene();
});

afterEach(async () => scene[Symbol.asyncDispose]());

async function delivered(): Promise<void> {
  attach(scene.cloud, 1, 1);
  scene.create();
  await scene.look();
}

describe('delivery while the business cluster changes', () => {
  it('a node changed since the plan is read, planned and posted again in the same sync', async () => {
    await delivered();
    attach(scene.cloud, 3, 1);
    scene.viola.beforePost = () => {
      scene.viola.beforePost = undefined;
      const node = scene.viola.nodes.get('worker-1');
      if (node) scene.viola.put({ ...node, generation: 7 });
    };
    await scene.look();
    expect(scene.viola.posts.at(-1)?.map(({ base }) => base?.generation)).toEqual([7]);
    expect(scene.nics('worker-1')).toEqual(['multinic0=p1', 'multinic1=p3']);
    expect(scene.ready()).toBe('True Synced: synced 1 node');
  });

  it("a new NIC gets the lowest index when only Viola's stale list shows the index in use", async () => {
    await delivered();
    attach(scene.cloud, 3, 1);
    const node = scene.viola.nodes.get('worker-1') ?? expect.fail('worker-1 was delivered');
    const leaving = { id: 1, name: 'multinic1', portId: 'p9' };
    scene.viola.listedAs.set('worker-1', { ...node, status: { interfaceStatuses: [leaving] } });
    await scene.look();
    expect(scene.nics('worker-1')).toEqual(['multinic0=p1', 'multinic1=p3']);
    expect(scene.ready()).toBe('True Synced: synced 1 node');
  });

  it('a new NIC skips an index that the node still reports', async () => {
    await delivered();
    attach(scene.cloud, 3, 1);
    const node = scene.viola.nodes.get('worker-1') ?? expect.fail('worker-1 was delivered');
    const leaving = { id: 1, name: 'multinic1', portId: 'p9' };
    scene.viola.put({ ...node, status: { interfaceStatuses: [leaving] } });
    await scene.look();
    expect(scene.nics('worker-1')).toEqual(['multinic0=p1', 'multinic2=p3']);
  });

  it('the delivery gives up a constantly changing node until the next poll', async () => {
    await delivered();
    attach(scene.cloud, 3, 1);
    scene.viola.beforePost = () => {
      const node = scene.viola.nodes.get('worker-1');
      if (node) scene.viola.put({ ...node, generation: node.generation + 1 });
    };
    await scene.look();
    expect(scene.viola.posts).toHaveLength(4);
    expect(scene.ready()).toBe(
      'False ViolaPostError: viola: node worker-1 changed during every attempt; the next poll tries again',
    );
  });

  it('a node created first by another OpenstackConfig gives NameConflict and stays unchanged', async () => {
    attach(scene.cloud, 1, 1);
    scene.create();
    const source = { namespace: 'team-b', name: 'other', uid: 'other', generation: 1 };
    const theirs = { nodeName: 'worker-1', instanceId: serverIds[0] ?? '', interfaces: [] };
    scene.viola.beforePost = () =>
      scene.viola.put({ nodeName: 'worker-1', uid: 'u', generation: 1, source, spec: theirs });
    await scene.look();
    expect(scene.ready()).toContain('False NameConflict: node worker-1 is configured by');
    expect(scene.nics('worker-1')).toEqual([]);
  });
});

describe('delivery with an unreadable object in the business cluster', () => {
  it('an unreadable object blocks only its own node and is never overwritten', async () => {
    attach(scene.cloud, 1, 1);
    attach(scene.cloud, 2, 2);
    scene.viola.unreadable.add('worker-1');
    scene.create();
    await scene.look();
    expect(scene.viola.posts.flat().map(({ nodeName }) => nodeName)).toEqual(['worker-2']);
    expect(scene.ready()).toBe(
      'False ViolaPostError: viola: node worker-1 cannot be read: spec.interfaces: Invalid input',
    );
    scene.viola.unreadable.clear();
    await scene.look();
    expect(scene.nics('worker-1')).toEqual(['multinic0=p1']);
  });

  it('an object that becomes unreadable after the list blocks only its own node', async () => {
    await delivered();
    attach(scene.cloud, 2, 2);
    attach(scene.cloud, 3, 1);
    scene.viola.refused.set('worker-1', 'StaleBase');
    scene.viola.beforePost = () => scene.viola.unreadable.add('worker-1');
    await scene.look();
    expect(scene.nics('worker-2')).toEqual(['multinic0=p2']);
    expect(scene.ready()).toContain('False ViolaPostError: viola: node worker-1 cannot be read');
  });

  it("an unreadable object's server is not delivered again under its new name", async () => {
    await delivered();
    scene.cloud.vms = scene.cloud.vms.map((vm) => ({ ...vm, name: `new-${vm.name}` }));
    scene.viola.unreadable.add('worker-1');
    await scene.look();
    expect([...scene.viola.nodes.keys()]).toEqual(['worker-1']);
    expect(scene.ready()).toContain(
      'False ViolaPostError: viola: node new-worker-1 cannot be read',
    );
  });

  it("an unreadable object's inventory records stay unchanged", async () => {
    await delivered();
    const before = await scene.store.list();
    scene.viola.unreadable.add('worker-1');
    await scene.look();
    expect(await scene.store.list()).toEqual(before);
  });

  it("another OpenstackConfig's unreadable object does not block a deletion", async () => {
    await delivered();
    const source = { namespace: 'ns', name: 'other', uid: 'other-uid', generation: 1 };
    const spec = { nodeName: 'theirs', instanceId: 'i-9' };
    scene.viola.put({ nodeName: 'theirs', uid: 'u9', generation: 1, spec, source });
    scene.viola.unreadable.add('theirs');
    scene.kube.delete();
    await scene.look();
    expect(scene.viola.removals).toEqual(['worker-1']);
    scene.viola.clean();
    await scene.look();
    expect(scene.object()).toBeUndefined();
  });

  it("an unreadable object with unknown source blocks an OpenstackConfig's deletion", async () => {
    await delivered();
    scene.kube.delete();
    scene.viola.nodes.clear();
    scene.viola.unreadable.add('worker-1');
    await scene.look();
    expect(scene.ready()).toContain(
      'False ViolaPostError: viola: MultiNicNodeConfig worker-1 cannot be read and may be one of the',
    );
    scene.viola.unreadable.clear();
    await scene.look();
    expect(scene.object()).toBeUndefined();
  });
});

describe('NIC names', () => {
  const other = { openstackNodeNameMetadataKey: 'k8s-node' };

  async function secondNic(): Promise<void> {
    attach(scene.cloud, 1, 1);
    attach(scene.cloud, 2, 1);
    scene.create({ settings: other });
    await scene.look();
    detach(scene.cloud, 1);
    await scene.look();
    expect(scene.nics('worker-1')).toEqual(['multinic1=p2']);
  }

  it("a NIC keeps its name when a user deleted the node's object", async () => {
    await secondNic();
    scene.viola.nodes.delete('worker-1');
    await scene.look();
    expect(scene.nics('worker-1')).toEqual(['multinic1=p2']);
  });

  it('a new NIC gets a name without waiting for an unreadable inventory', async () => {
    attach(scene.cloud, 1, 1);
    scene.failStore(new Error('ECONNREFUSED'));
    scene.create();
    await scene.look();
    expect(scene.nics('worker-1')).toEqual(['multinic0=p1']);
  });
});
