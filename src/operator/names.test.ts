import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { attach, detach, type Scene, serverIds, setScene } from './testing/scene.ts';

let scene: Scene;

beforeEach(async () => {
  scene = await setScene();
});

afterEach(async () => scene[Symbol.asyncDispose]());

/** Leaves worker-1 with multinic1 only: the port for multinic0 is detached. */
async function oneLeftOfTwo(settings = {}): Promise<void> {
  attach(scene.cloud, 1, 1);
  attach(scene.cloud, 2, 1);
  scene.create({ settings });
  await scene.look();
  detach(scene.cloud, 1);
  await scene.look();
  expect(scene.nics('worker-1')).toEqual(['multinic1=p2']);
}

describe('a NIC name outlives its object', () => {
  it('a NIC keeps its name when its object is recreated under a new node name', async () => {
    await oneLeftOfTwo({ openstackNodeNameMetadataKey: 'node' });
    scene.cloud.vms = scene.cloud.vms.map((vm) =>
      vm.id === serverIds[0] ? { ...vm, metadata: { node: 'k8s-1' } } : vm,
    );
    await scene.look();
    expect(scene.nics('worker-1')).toEqual(['multinic1=p2']);
    scene.viola.nodes.delete('worker-1');
    await scene.look();
    expect(scene.nics('k8s-1')).toEqual(['multinic1=p2']);
  });

  it('a NIC keeps its name when a user deletes the object during a removal', async () => {
    for (let n = 1; n <= 3; n++) attach(scene.cloud, n, 1);
    scene.create();
    await scene.look();
    detach(scene.cloud, 1);
    scene.viola.beforePost = () => {
      scene.viola.beforePost = undefined;
      scene.viola.nodes.delete('worker-1');
    };
    await scene.look();
    expect(scene.nics('worker-1')).toEqual(['multinic1=p2', 'multinic2=p3']);
  });

  it('a NIC keeps its name when a user deletes the object and the node is recreated under a new server name', async () => {
    await oneLeftOfTwo();
    const [vm, ...others] = scene.cloud.vms;
    if (vm) scene.cloud.vms = [{ ...vm, name: 'renamed' }, ...others];
    await scene.look(600_000);
    attach(scene.cloud, 3, 1);
    scene.viola.beforePost = () => {
      scene.viola.beforePost = undefined;
      scene.viola.nodes.delete('worker-1');
    };
    await scene.look(600_000);
    expect(scene.nics('renamed')).toEqual(['multinic0=p3', 'multinic1=p2']);
    expect(scene.ready()).toContain('True');
  });

  it('a NIC keeps its name when a user deletes the object', async () => {
    await oneLeftOfTwo();
    scene.viola.nodes.delete('worker-1');
    await scene.look();
    expect(scene.nics('worker-1')).toEqual(['multinic1=p2']);
  });

  it('a NIC keeps its name when a user deletes the object during a database outage, and a new node is delivered', async () => {
    await oneLeftOfTwo();
    scene.failStore(new Error('ECONNREFUSED'));
    scene.viola.nodes.delete('worker-1');
    attach(scene.cloud, 4, 2);
    await scene.look();
    expect(scene.nics('worker-1')).toEqual(['multinic1=p2']);
    expect(scene.nics('worker-2')).toEqual(['multinic0=p4']);
    expect(scene.ready()).toContain('True');
  });

  it("a NIC keeps its name after a foreign object carried its server's id and was corrected late", async () => {
    attach(scene.cloud, 1, 1);
    attach(scene.cloud, 2, 2);
    scene.create();
    await scene.look();
    const node = scene.viola.nodes.get('worker-1') ?? expect.fail('worker-1 was delivered');
    const spec = { ...node.spec, instanceId: serverIds[1] };
    scene.viola.put({ ...node, generation: 2, spec });
    scene.viola.refused.set('worker-1', 'ClusterUnreachable');
    await scene.look();
    scene.viola.refused.clear();
    await scene.look();
    scene.viola.nodes.delete('worker-2');
    await scene.look();
    expect(scene.nics('worker-2')).toEqual(['multinic0=p2']);
  });

  it('a NIC keeps its name when recreating the object fails at first and the operator restarts', async () => {
    await oneLeftOfTwo();
    scene.viola.nodes.delete('worker-1');
    scene.viola.refused.set('worker-1', 'ClusterUnreachable');
    await scene.look();
    scene.viola.refused.clear();
    scene.restart();
    await scene.look();
    expect(scene.nics('worker-1')).toEqual(['multinic1=p2']);
  });

  it('a NIC keeps its name when the OpenstackConfig is restored from a backup and is younger than its ports', async () => {
    await oneLeftOfTwo();
    scene.kube.configs.replace([]);
    scene.create({}, { uid: 'cr-uid-2', creationTimestamp: '2026-01-02T00:00:00Z' });
    await scene.look();
    expect(scene.nics('worker-1')).toEqual(['multinic1=p2']);
    scene.viola.nodes.delete('worker-1');
    await scene.look();
    await scene.look();
    expect(scene.nics('worker-1')).toEqual(['multinic1=p2']);
  });
});

it('a NIC name known only to the host returns to its port', async () => {
  await oneLeftOfTwo();
  const node = scene.viola.nodes.get('worker-1');
  if (node === undefined) throw new Error('the node is gone');
  const knownInterfaces = [{ id: 7, macAddress: 'fa:16:3e:00:00:03' }];
  scene.viola.put({ ...node, status: { ...node.status, knownInterfaces } });
  attach(scene.cloud, 3, 1);
  await scene.look();
  expect(scene.nics('worker-1')).toEqual(['multinic1=p2', 'multinic7=p3']);
});
