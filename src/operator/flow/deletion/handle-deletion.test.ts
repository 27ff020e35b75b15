import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { RequestError } from '../../../requests/request-error.ts';
import { openstackConfigs } from '../../model/openstack-config.ts';
import { FakeViola } from '../../testing/fake-viola.ts';
import { attach, delivered, environment, type Scene, setScene } from '../../testing/scene.ts';

const force = { fieldManager: 'people', force: true };

let scene: Scene;

beforeEach(async () => {
  scene = await setScene();
});

afterEach(async () => scene[Symbol.asyncDispose]());

async function loseRecords(): Promise<void> {
  const author = { namespace: 'multinic-system', name: 'osc', generation: 0 };
  await scene.store.record('biz-1', author, []);
}

describe('a deleted OpenstackConfig', () => {
  it('a deleted OpenstackConfig goes when every node is clean, without OpenStack requests', async () => {
    await delivered(scene);
    const calls = scene.cloud.calls;
    scene.clouds.provided = new RequestError('down', { service: 'contrabass', kind: 'timeout' });
    scene.kube.delete();
    await scene.look();
    expect(scene.viola.removals.toSorted()).toEqual(['worker-1', 'worker-2']);
    expect(scene.ready()).toBe('False Deleting: waits for cleanup on worker-1, worker-2');
    expect(scene.condition('CredentialsValid')).toBeUndefined();
    await scene.look();
    expect(scene.viola.removals).toHaveLength(2);
    scene.viola.clean();
    await scene.look();
    expect(scene.object()).toBeUndefined();
    expect(await scene.store.list()).toEqual([]);
    expect(scene.cloud.calls).toBe(calls);
  });

  it("a deleted OpenstackConfig stays while a delivered node is missing only from Viola's list", async () => {
    await delivered(scene);
    scene.kube.delete();
    scene.viola.unlisted.add('worker-1');
    await scene.look();
    expect(scene.viola.removals.toSorted()).toEqual(['worker-1', 'worker-2']);
    const node = scene.viola.nodes.get('worker-2');
    if (node) scene.viola.nodes.delete('worker-2');
    await scene.look();
    expect(scene.object()).toBeDefined();
    scene.viola.clean();
    await scene.look();
    expect(scene.object()).toBeUndefined();
  });

  it("the deletion bypasses Viola's cache when listing nodes", async () => {
    await delivered(scene);
    scene.kube.delete();
    await scene.look();
    expect(scene.viola.lists.map(({ fresh }) => fresh)).toEqual([false, true]);
  });

  it('the deletion finds nodes by their source when status and inventory are lost', async () => {
    await delivered(scene);
    await loseRecords();
    await scene.kube.applyStatus(
      openstackConfigs,
      { metadata: { namespace: 'multinic-system', name: 'osc' }, status: {} },
      force,
    );
    scene.restart();
    scene.kube.delete();
    await scene.look();
    expect(scene.viola.removals.toSorted()).toEqual(['worker-1', 'worker-2']);
  });

  it('the deletion leaves a node unchanged after another OpenstackConfig has taken the node over', async () => {
    await delivered(scene);
    const node = scene.viola.nodes.get('worker-1') ?? expect.fail('worker-1 was delivered');
    const source = { namespace: 'ns', name: 'successor', uid: 'successor-uid', generation: 1 };
    scene.viola.put({ ...node, source });
    scene.kube.delete();
    await scene.look();
    expect(scene.viola.removals).toEqual(['worker-2']);
    scene.viola.clean();
    await scene.look();
    expect(scene.object()).toBeUndefined();
  });

  it('the deletion removes nodes from the default business cluster when status and inventory are lost', async () => {
    await using other = await setScene({ ...environment, DEFAULT_K8S_PROVIDER_ID: 'biz-1' });
    attach(other.cloud, 1, 1);
    const account = { username: 'ops', password: 'p', projectID: 'project-1' };
    other.create({ credentials: { authURL: 'https://keystone.test', ...account } });
    await other.look();
    expect(other.ready()).toBe('True Synced: synced 1 node');
    await other.store.record(
      'biz-1',
      { namespace: 'multinic-system', name: 'osc', generation: 0 },
      [],
    );
    await other.kube.applyStatus(
      openstackConfigs,
      { metadata: { namespace: 'multinic-system', name: 'osc' }, status: {} },
      force,
    );
    other.kube.delete();
    await other.look();
    expect(other.viola.removals).toEqual(['worker-1']);
  });

  it('the deletion waits and reports ViolaPostError while Viola fails', async () => {
    await delivered(scene);
    scene.kube.delete();
    scene.viola.fail(503);
    await scene.look();
    expect(scene.ready()).toBe(
      'False ViolaPostError: ViolaUnavailable: viola: unexpected status 503',
    );
    scene.viola.outage = undefined;
    await scene.look();
    scene.viola.clean();
    await scene.look();
    expect(scene.object()).toBeUndefined();
  });

  it('an OpenstackConfig without deliveries is deleted at once despite unusable credentials', async () => {
    scene.create({ credentials: {} });
    await scene.look();
    scene.kube.delete();
    expect(scene.object()).toBeUndefined();
    await scene.look();
  });

  it('the deletion sends no request to a denied endpoint and reports PolicyDenied', async () => {
    await delivered(scene);
    const before = scene.asked.length;
    scene.edit({ settings: { violaEndpoint: 'http://169.254.169.254/latest' } });
    scene.kube.delete();
    await scene.look();
    expect(scene.asked.slice(before)).toEqual([]);
    expect(scene.ready()).toBe(
      'False PolicyDenied: spec.settings.violaEndpoint "http://169.254.169.254/latest" is a link-local address, and not in the operator\'s ALLOWED_ENDPOINTS',
    );
  });

  it('the deletion leaves all nodes unchanged with deletionPolicy Retain', async () => {
    await delivered(scene);
    scene.edit({ settings: { deletionPolicy: 'Retain' } });
    scene.kube.delete();
    await scene.look();
    expect(scene.object()).toBeUndefined();
    expect(scene.viola.removals).toEqual([]);
    expect(scene.nics('worker-1')).toEqual(['multinic0=p1']);
  });

  it("the deletion never removes another OpenstackConfig's nodes", async () => {
    await delivered(scene);
    const source = { namespace: 'team-b', name: 'other', uid: 'other', generation: 1 };
    const spec = { nodeName: 'worker-9', interfaces: [] };
    scene.viola.put({ nodeName: 'worker-9', uid: 'u', generation: 1, source, spec });
    scene.kube.delete();
    await scene.look();
    expect(scene.viola.removals).not.toContain('worker-9');
  });
});

function approve(): void {
  scene.kube.annotate({ 'multinic.io/allow-removals': 'moved' });
}

describe('an OpenstackConfig moved to another business cluster', () => {
  const credentials = {
    openstackProviderID: 'cloud-1',
    k8sProviderID: 'biz-2',
    projectID: 'project-1',
  };

  it('a moved OpenstackConfig removes its nodes from the former business cluster when the inventory is lost', async () => {
    await delivered(scene);
    await loseRecords();
    scene.otherViolas.set('biz-2', new FakeViola('second-'));
    scene.edit({ credentials });
    await scene.look();
    approve();
    await scene.look();
    expect(scene.viola.bases.toSorted()).toEqual(['worker-1 consent', 'worker-2 consent']);
    expect(scene.status().deliveredTo).toEqual(['biz-1', 'biz-2']);
    scene.viola.clean();
    await scene.look();
    expect(scene.status().deliveredTo).toEqual(['biz-2']);
  });

  it('a former business cluster stays in deliveredTo while an unanswered POST may still arrive', async () => {
    attach(scene.cloud, 1, 1);
    scene.create();
    await scene.clock.advance(60_000);
    scene.viola.stick();
    await scene.look();
    scene.otherViolas.set('biz-2', new FakeViola('second-'));
    scene.edit({ credentials });
    await scene.look();
    expect(scene.status().deliveredTo).toEqual(['biz-1', 'biz-2']);
    await scene.viola.unstick();
    await scene.look(60_000);
    approve();
    await scene.look();
    expect(scene.viola.removals).toEqual(['worker-1']);
    scene.viola.clean();
    await scene.look();
    expect(scene.status().deliveredTo).toEqual(['biz-2']);
  });

  it('a moved and deleted OpenstackConfig stays until both business clusters are clean', async () => {
    await delivered(scene);
    const second = new FakeViola('second-');
    scene.otherViolas.set('biz-2', second);
    scene.viola.fail(503);
    scene.edit({ credentials });
    await scene.look();
    await loseRecords();
    scene.viola.outage = undefined;
    scene.kube.delete();
    await scene.look();
    expect([scene.viola.removals.length, second.removals.length]).toEqual([2, 2]);
    second.clean();
    await scene.look();
    expect(scene.ready()).toBe('False Deleting: waits for cleanup on worker-1, worker-2');
    scene.viola.clean();
    await scene.look();
    expect(scene.object()).toBeUndefined();
  });

  it('an operator killed after the first POST still removes the node from the former business cluster', async () => {
    attach(scene.cloud, 1, 1);
    scene.create();
    scene.viola.beforePost = () => scene.killAt(scene.effects.length, new Error('killed'));
    await expect(scene.look()).rejects.toThrow('killed');
    expect(scene.viola.nodes.size).toBe(1);
    scene.restart();
    await loseRecords();
    scene.otherViolas.set('biz-2', new FakeViola('second-'));
    scene.edit({ credentials });
    await scene.look();
    expect(scene.ready()).toContain(
      'False RemovalHeld: SideEffect: the removal of worker-1 from business cluster "biz-1" waits',
    );
    approve();
    await scene.look();
    expect(scene.viola.removals).toEqual(['worker-1']);
  });
});

describe('deletion during a database outage', () => {
  it('[W8] a deletion completes during a database outage, because the status names the business clusters', async () => {
    await delivered(scene);
    scene.failStore(new Error('ECONNREFUSED'));
    scene.kube.delete();
    await scene.look();
    expect(scene.object()).toBeDefined();
    scene.viola.clean();
    await scene.look();
    expect(scene.viola.nodes.size).toBe(0);
    expect(scene.object()).toBeUndefined();
  });

  it('a delivery completes during a database outage', async () => {
    scene.failStore(new Error('ECONNREFUSED'));
    await delivered(scene);
    expect(scene.ready()).toBe('True Synced: synced 2 nodes');
    scene.failStore(undefined);
    await scene.look(30_000);
    expect(await scene.store.list()).toHaveLength(2);
  });
});

describe('inventory records of a vanished OpenstackConfig', () => {
  it('the inventory deletes records when their OpenstackConfig no longer exists', async () => {
    await delivered(scene);
    scene.kube.configs.replace([]);
    await scene.look();
    expect(await scene.store.list()).toEqual([]);
  });
});
