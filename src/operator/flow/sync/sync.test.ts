import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { finalizers } from '../../../api/names.ts';
import type { ExistingNodeConfig } from '../../../api/node-configs-http.ts';
import { openstackConfigs } from '../../model/openstack-config.ts';
import { FakeViola } from '../../testing/fake-viola.ts';
import { attach, delivered, detach, type Scene, serverIds, setScene } from '../../testing/scene.ts';

let scene: Scene;

beforeEach(async () => {
  scene = await setScene();
});

afterEach(async () => scene[Symbol.asyncDispose]());

describe('an attached port', () => {
  it('an attached port is delivered with fence and source, and the status reports the sync', async () => {
    attach(scene.cloud, 1, 1);
    scene.create();
    await scene.look();
    expect(scene.viola.posts).toEqual([
      [
        {
          nodeName: 'worker-1',
          instanceId: serverIds[0],
          base: null,
          source: {
            namespace: 'multinic-system',
            name: 'osc',
            uid: 'cr-uid',
            generation: 1,
            cluster: 'cluster-1',
            cloud: 'keystone.test:443/project-1',
          },
          interfaces: [
            {
              id: 0,
              name: 'multinic0',
              portId: 'p1',
              macAddress: 'fa:16:3e:00:00:01',
              address: '10.0.10.1',
              cidr: '10.0.10.0/24',
              mtu: 1450,
              addresses: ['10.0.10.1/24'],
              gateway: '10.0.10.1',
              networkId: 'net-a',
              subnetId: 'sub-a',
            },
          ],
        },
      ],
    ]);
    expect(scene.ready()).toBe('True Synced: synced 1 node');
    expect(scene.status()).toMatchObject({
      observedGeneration: 1,
      lastSyncedAt: '2026-01-01T00:00:15Z',
      lastError: '',
      summary: { servers: 2, nodes: 1, interfaces: 1, filteredPorts: 0 },
    });
    expect(scene.condition('Degraded')).toMatchObject({
      status: 'False',
      reason: 'Healthy',
      message: 'controller healthy',
    });
    for (const type of ['CredentialsValid', 'InventoryComplete', 'Delivered']) {
      expect(scene.condition(type)?.status).toBe('True');
    }
    expect(scene.events).toEqual([{ type: 'Normal', reason: 'Synced', message: 'synced 1 node' }]);
  });

  it('an attached port is delivered once: later syncs send nothing, and write the status once more', async () => {
    await delivered(scene);
    const before = scene.kube.writes.length;
    for (let round = 0; round < 3; round++) await scene.look();
    expect(scene.viola.posts).toHaveLength(1);
    expect(scene.ready()).toBe('True NoChange: no changes detected');
    expect(scene.kube.writes.slice(before)).toEqual(['status']);
  });

  it('a newly attached port posts only its own node', async () => {
    await delivered(scene);
    attach(scene.cloud, 3, 2);
    await scene.look();
    expect(scene.viola.posts[1]?.map(({ nodeName, base }) => [nodeName, base?.generation])).toEqual(
      [['worker-2', 1]],
    );
    expect(scene.nics('worker-2')).toEqual(['multinic0=p2', 'multinic1=p3']);
  });

  it('an attached port is recorded in the inventory as stored in the business cluster', async () => {
    await delivered(scene);
    const [first] = await scene.store.list({ nodeName: 'worker-1' });
    expect(first).toMatchObject({ providerId: 'biz-1', instanceId: serverIds[0] });
    expect(first?.config.interfaces).toHaveLength(1);
  });

  it("the inventory records no foreign objects on the config's servers", async () => {
    attach(scene.cloud, 2, 2);
    const source = { namespace: 'team-b', name: 'other', uid: 'other', generation: 1 };
    const spec = { nodeName: 'worker-1', instanceId: serverIds[0], interfaces: [] };
    scene.viola.put({ nodeName: 'worker-1', uid: 'u', generation: 1, source, spec });
    scene.create();
    await scene.look();
    expect((await scene.store.list()).map(({ nodeName }) => nodeName)).toEqual(['worker-2']);
  });

  it('an OpenstackConfig gets a removed finalizer back even with nothing to send', async () => {
    await delivered(scene);
    const { metadata } = scene.object() ?? expect.fail('it is there');
    const bare = { metadata: { resourceVersion: metadata.resourceVersion ?? '', finalizers: [] } };
    await scene.kube.patch(openstackConfigs, { namespace: 'multinic-system', name: 'osc' }, bare);
    await scene.look();
    expect(scene.viola.posts).toHaveLength(1);
    expect(scene.object()?.metadata.finalizers).toEqual([finalizers.openstackConfig]);
  });

  it('an attached port is delivered again after a user deletes or edits the object', async () => {
    await delivered(scene);
    scene.viola.nodes.delete('worker-1');
    const other = scene.viola.nodes.get('worker-2');
    if (other)
      scene.viola.put({ ...other, generation: 2, spec: { ...other.spec, interfaces: [] } });
    await scene.look();
    expect(scene.nics('worker-1')).toEqual(['multinic0=p1']);
    expect(scene.nics('worker-2')).toEqual(['multinic0=p2']);
  });

  it('a sync removes the finalizer from an earlier generation, even if the current finalizer is present', async () => {
    const both = [finalizers.openstackConfig, ...finalizers.openstackConfigEarlier];
    attach(scene.cloud, 1, 1);
    scene.create({}, { finalizers: both });
    await scene.look();
    expect(scene.object()?.metadata.finalizers).toEqual([finalizers.openstackConfig]);
  });

  it('a sync sets the finalizer before the first POST, and none while nothing is sent', async () => {
    scene.create();
    await scene.look();
    expect(scene.object()?.metadata.finalizers).toBeUndefined();
    attach(scene.cloud, 1, 1);
    await scene.look();
    expect(scene.object()?.metadata.finalizers).toEqual([finalizers.openstackConfig]);
    const order = scene.effects.filter((effect) => effect.startsWith('before'));
    expect(order.indexOf('before operator.finalizer.add')).toBeLessThan(
      order.indexOf('before operator.node-config.post'),
    );
  });

  it('a sync replaces finalizers from earlier generations and keeps foreign finalizers', async () => {
    attach(scene.cloud, 1, 1);
    scene.create({}, { finalizers: ['other/one', ...finalizers.openstackConfigEarlier] });
    await scene.look();
    expect(scene.object()?.metadata.finalizers).toEqual(['other/one', finalizers.openstackConfig]);
  });

  it('a delivered OpenstackConfig posts nothing again after an operator restart', async () => {
    await delivered(scene);
    scene.restart();
    await scene.look();
    expect(scene.viola.posts).toHaveLength(1);
    expect(scene.ready()).toBe('True NoChange: no changes detected');
  });
});

describe('a detached port', () => {
  it.each([
    ['deleted', true],
    ['kept', false],
  ])(
    "a detached port's NIC is removed when the port is %s, and the second NIC keeps its name",
    async (_how, gone) => {
      attach(scene.cloud, 1, 1);
      attach(scene.cloud, 2, 1);
      scene.create();
      await scene.look();
      detach(scene.cloud, 1, gone);
      await scene.look();
      expect(scene.nics('worker-1')).toEqual(['multinic1=p2']);
    },
  );

  it('a detached port leaves an empty object when the node has no further NIC', async () => {
    await delivered(scene);
    detach(scene.cloud, 1);
    await scene.look();
    expect(scene.viola.nodes.get('worker-1')?.spec.interfaces).toEqual([]);
    expect(scene.viola.removals).toEqual([]);
  });

  it("a detached port's NIC stays while Nova fails, and is removed when Nova answers", async () => {
    await delivered(scene);
    detach(scene.cloud, 1);
    scene.cloud.fail('server', 'serverError');
    await scene.look();
    expect(scene.nics('worker-1')).toEqual(['multinic0=p1']);
    expect(scene.ready()).toContain('False RemovalUnconfirmed: node worker-1: multinic0 (port p1)');
    scene.cloud.heal();
    await scene.look();
    expect(scene.nics('worker-1')).toEqual([]);
    expect(scene.ready()).toBe('True Synced: synced 1 node');
  });

  it('a port missing only from the list keeps its NIC', async () => {
    await delivered(scene);
    scene.cloud.unlisted.add('p1').add('p2');
    await scene.look();
    expect(scene.viola.posts).toHaveLength(1);
    expect(scene.ready()).toBe('True NoChange: no changes detected');
  });
});

describe('a server removed from vmNames', () => {
  it('a server removed from vmNames has its node object removed, fenced with the read generation', async () => {
    await delivered(scene);
    scene.edit({ vmNames: serverIds.slice(1, 2) });
    await scene.look();
    expect(scene.viola.removals).toEqual(['worker-1']);
    expect(scene.nics('worker-2')).toEqual(['multinic0=p2']);
    expect(scene.ready()).toBe('True Synced: synced 1 node');
  });

  it('a server removed from vmNames stays in the inventory until the node is clean, with one removal request', async () => {
    await delivered(scene);
    scene.edit({ vmNames: serverIds.slice(1, 2) });
    await scene.look();
    await scene.look();
    expect(scene.viola.removals).toEqual(['worker-1']);
    expect(await scene.store.list()).toHaveLength(2);
    expect(scene.condition('Reconciling')).toMatchObject({ reason: 'Waiting' });
    scene.viola.clean();
    await scene.look();
    expect(await scene.store.list()).toHaveLength(1);
    expect(scene.condition('Reconciling')).toBeUndefined();
  });
});

function appliedTo({ nodeName, uid }: Pick<ExistingNodeConfig, 'nodeName' | 'uid'>) {
  return { nodeUid: `node-of-${nodeName}`, nodeName, objectUid: uid, action: 'apply' };
}

/** Returns the status from a controller without a Node for the object. */
function nodeNotFound({
  generation,
}: Pick<ExistingNodeConfig, 'generation'>): NonNullable<ExistingNodeConfig['status']> {
  const lastTransitionTime = '2026-01-01T00:00:00Z';
  const about = { reason: 'NodeNotFound', message: '', lastTransitionTime };
  const ready = { type: 'Ready', status: 'False', ...about } as const;
  return { state: 'Pending', observedGeneration: generation, conditions: [ready] };
}

/** Delivers and configures both nodes. */
async function configured(): Promise<void> {
  await delivered(scene);
  for (const node of scene.viola.nodes.values()) {
    scene.viola.put({ ...node, status: { applied: appliedTo(node) } });
  }
}

describe('a CR that moves to a new business cluster', () => {
  const credentials = {
    openstackProviderID: 'cloud-1',
    k8sProviderID: 'biz-2',
    projectID: 'project-1',
  };

  it('[W0] a moved CR removes a node from the old business cluster when the new cluster shows its Node', async () => {
    await configured();
    const second = new FakeViola('second-');
    scene.otherViolas.set('biz-2', second);
    scene.edit({ credentials });
    for (let syncs = 0; syncs < 3; syncs++) await scene.look();
    expect([...second.nodes.keys()]).toEqual(['worker-1', 'worker-2']);
    expect(scene.viola.removals).toEqual([]);
    expect(scene.status().deliveredTo).toEqual(['biz-1', 'biz-2']);
    expect(scene.ready()).toContain(
      'False RemovalHeld: SideEffect: the removal of worker-1, worker-2 from business cluster "biz-1" waits until business cluster "biz-2" has Nodes',
    );
    // A stale `applied` record beside NodeNotFound does not count as a Node.
    for (const node of second.nodes.values()) {
      const applied = appliedTo(node);
      second.put({ ...node, status: { ...nodeNotFound(node), applied } });
    }
    await scene.look();
    expect(scene.viola.removals).toEqual([]);
    for (const node of second.nodes.values()) {
      second.put({ ...node, status: { applied: appliedTo(node) } });
    }
    await scene.look();
    expect(scene.viola.bases.toSorted()).toEqual(['worker-1 evidence', 'worker-2 evidence']);
    expect(scene.condition('Reconciling')).toMatchObject({ reason: 'Waiting' });
    scene.viola.clean();
    await scene.look();
    expect((await scene.store.list()).map(({ providerId }) => providerId)).toEqual([
      'biz-2',
      'biz-2',
    ]);
    expect(scene.condition('Reconciling')).toBeUndefined();
  });

  it('[W0] a moved CR removes only a deselected node from the old business cluster', async () => {
    await configured();
    scene.otherViolas.set('biz-2', new FakeViola('second-'));
    scene.edit({ credentials, vmNames: serverIds.slice(1, 2) });
    await scene.look();
    expect(scene.viola.bases).toEqual(['worker-1 named']);
    expect(scene.status().removals).toMatchObject([{ nics: 1, nodes: 1 }]);
  });

  it('[N3] a moved CR removes nodes from the old business cluster without consent only if their agents reported no NIC', async () => {
    await delivered(scene);
    scene.otherViolas.set('biz-2', new FakeViola('second-'));
    scene.edit({ credentials });
    await scene.look();
    expect(scene.viola.removals).toEqual([]);
    // Without a record the NICs of a missing Node are unknown.
    for (const node of scene.viola.nodes.values()) {
      scene.viola.put({ ...node, status: nodeNotFound(node) });
    }
    await scene.look();
    expect(scene.viola.removals).toEqual([]);
    for (const node of scene.viola.nodes.values()) {
      const applied = { ...appliedTo(node), knownFrom: { uid: node.uid, job: 'job' } };
      scene.viola.put({ ...node, status: { ...nodeNotFound(node), applied } });
    }
    await scene.look();
    expect(scene.viola.bases.toSorted()).toEqual(['worker-1 named', 'worker-2 named']);
  });

  it('[W0] a moved CR keeps a node in the old business cluster if a user wrote a different server into its object', async () => {
    await configured();
    scene.otherViolas.set('biz-2', new FakeViola('second-'));
    const [first] = scene.viola.nodes.values();
    if (first) scene.viola.put({ ...first, spec: { ...first.spec, instanceId: 'elsewhere' } });
    scene.edit({ credentials });
    await scene.look();
    expect(scene.viola.removals).toEqual([]);
    expect(scene.ready()).toContain(
      'False RemovalHeld: SideEffect: the removal of worker-1, worker-2 from',
    );
  });

  it('[W0] a CR moved to a wrong business cluster and back removes no NIC', async () => {
    await configured();
    const mistake = new FakeViola('second-');
    scene.otherViolas.set('biz-2', mistake);
    scene.edit({ credentials });
    await scene.look();
    scene.edit({ credentials: { ...credentials, k8sProviderID: 'biz-1' } });
    await scene.look();
    expect(scene.viola.removals).toEqual([]);
    expect(scene.viola.nodes.size).toBe(2);
    // biz-1 shows the Nodes.
    expect(mistake.removals.toSorted()).toEqual(['worker-1', 'worker-2']);
    mistake.clean();
    await scene.look();
    expect(scene.status().deliveredTo).toEqual(['biz-1']);
  });

  it('a moved CR is delivered to the new business cluster although the old cluster is unreachable', async () => {
    await delivered(scene);
    const second = new FakeViola('second-');
    scene.otherViolas.set('biz-2', second);
    scene.viola.fail(503);
    scene.edit({ credentials });
    await scene.look();
    expect([...second.nodes.keys()]).toEqual(['worker-1', 'worker-2']);
    expect(scene.ready()).toBe(
      'False ViolaPostError: ViolaUnavailable: nodes in business cluster "biz-1" cannot be removed: viola: unexpected status 503',
    );
  });
});
