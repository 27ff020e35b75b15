import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { ExistingNodeConfig } from '../../../api/node-configs-http.ts';
import { FakeViola } from '../../testing/fake-viola.ts';
import { attach, delivered, type Scene, serverIds, setScene } from '../../testing/scene.ts';

let scene: Scene;

beforeEach(async () => {
  scene = await setScene();
});

afterEach(async () => scene[Symbol.asyncDispose]());

const hourMs = 3_600_000;

/** Delivers ten NICs to each node. */
async function deliverTwenty(settings = {}): Promise<void> {
  for (let n = 1; n <= 20; n++) attach(scene.cloud, n, n <= 10 ? 1 : 2);
  scene.create({ settings });
  await scene.look();
}

async function deleteAndHold(): Promise<void> {
  scene.kube.delete();
  await scene.look();
  await scene.look();
  expect(scene.ready()).toContain('OverBudget: 20 of 20 NICs');
}

function allow(value = 'yes'): void {
  scene.kube.annotate({ 'multinic.io/allow-removals': value });
}

/** Adds a node from an earlier OpenstackConfig with this name. */
function putNamesake(n: number, change: Partial<ExistingNodeConfig> = {}): void {
  const instanceId = `00000000-0000-4000-8000-00000000099${n}`;
  const nodeName = `other-${n}`;
  const interfaces = [{ id: 0, macAddress: `fa:16:3e:0f:00:0${n}`, address: '10.9.0.1' }];
  scene.viola.put({
    nodeName,
    uid: `other-${n}`,
    generation: 1,
    source: { namespace: 'multinic-system', name: 'osc', uid: 'other-uid', generation: 3 },
    labelledInstanceId: instanceId,
    spec: { nodeName, instanceId, interfaces },
    ...change,
  });
}

/** Returns a node in deletion whose controller keeps a NIC. */
function keeping(mac: string): Partial<ExistingNodeConfig> {
  const conditions = [{ type: 'Ready', status: 'False', reason: 'RemovalHeld' } as const];
  const status = { conditions, heldRemovals: { code: 'OverBudget', macs: [mac] } };
  return { deletionTimestamp: '2026-01-01T00:00:00Z', status };
}

function consented(): string[] {
  return scene.viola.bases.filter((one) => one.endsWith(' consent')).toSorted();
}

it("a consent to a deletion covers a namesake's nodes only after their report", async () => {
  await deliverTwenty();
  for (const n of [1, 2]) putNamesake(n);
  await deleteAndHold();
  allow();
  await scene.look();
  expect(scene.viola.bases.toSorted()).toEqual(['worker-1 consent', 'worker-2 consent']);
  scene.viola.clean();
  await scene.look();
  expect(scene.ready()).toContain('NameConflict: other-1, other-2: delivered by an earlier');
  allow('again');
  await scene.look();
  expect(scene.viola.bases.slice(2).toSorted()).toEqual(['other-1 consent', 'other-2 consent']);
});

it('a consent to a deletion covers no NIC added afterwards', async () => {
  await deliverTwenty();
  await deleteAndHold();
  const node = scene.viola.nodes.get('worker-1') ?? expect.fail('worker-1 was delivered');
  const interfaces = (node.spec.interfaces ?? []).map((entry, at) =>
    at === 0 ? { ...entry, macAddress: 'fa:16:3e:0f:00:01' } : entry,
  );
  scene.viola.put({ ...node, generation: 7, spec: { ...node.spec, interfaces } });
  allow();
  await scene.look();
  await scene.look();
  expect(scene.viola.bases).toEqual(['worker-2 consent']);
  expect(scene.ready()).toMatch(/^False RemovalHeld: OverBudget: .*; the NICs stay/);
  expect(scene.object()).toBeDefined();
  allow('again');
  await scene.look();
  expect(consented()).toEqual(['worker-1 consent', 'worker-2 consent']);
});

it('a consent to the edit before a deletion does not cover the deletion', async () => {
  await deliverTwenty();
  scene.edit({ vmNames: [serverIds[2] ?? ''] });
  await scene.look();
  expect(scene.ready()).toContain('OverBudget: 20 of 20 NICs');
  scene.viola.fail(503);
  scene.kube.delete();
  await scene.look();
  scene.viola.outage = undefined;
  allow();
  await scene.look();
  expect(scene.viola.bases).toEqual([]);
});

it("deletionPolicy Delete is no consent for a namesake's node, also in deletion", async () => {
  await deliverTwenty({ deletionPolicy: 'Delete' });
  putNamesake(1, keeping('fa:16:3e:0f:00:01'));
  putNamesake(2);
  scene.kube.delete();
  await scene.look();
  await scene.look();
  expect(scene.viola.bases.toSorted()).toEqual(['worker-1 consent', 'worker-2 consent']);
  const node = scene.viola.nodes.get('worker-1') ?? expect.fail('worker-1 was delivered');
  scene.viola.put({ ...node, ...keeping('fa:16:3e:00:00:01'), generation: 9 });
  await scene.look();
  expect(scene.viola.bases.slice(2)).toEqual(['worker-1 consent']);
  allow();
  await scene.look();
  expect(scene.viola.bases.slice(3)).toContain('other-1 consent');
  expect(scene.viola.bases.join()).not.toContain('other-2');
});

describe('deletionPolicy Delete with an unused consent', () => {
  const mac = 'fa:16:3e:00:00:01';

  /** Starts the deletion, after which the controller keeps a NIC, and sets a consent to nothing. */
  async function keepOne(): Promise<void> {
    await deliverTwenty({ deletionPolicy: 'Delete' });
    scene.kube.delete();
    await scene.look();
    scene.viola.nodes.delete('worker-2');
    const node = scene.viola.nodes.get('worker-1') ?? expect.fail('worker-1 was delivered');
    scene.viola.put({ ...node, ...keeping(mac), generation: 9 });
    allow();
  }

  it('the finalizer is removed when the kept NIC leaves between list and DELETE', async () => {
    await keepOne();
    const remove = scene.viola.remove.bind(scene.viola);
    scene.viola.remove = async (...args) => {
      scene.viola.clean();
      return remove(...args);
    };
    expect(await scene.look()).toBeUndefined();
    expect(scene.object()).toBeUndefined();
  });

  it('a kept NIC released by the policy waits for cleanup, not for a new consent', async () => {
    await keepOne();
    await scene.look();
    expect(scene.viola.bases.slice(2)).toEqual(['worker-1 consent']);
    expect(scene.ready()).toBe('False Deleting: waits for cleanup on worker-1');
    expect(scene.status().heldRemovals).toBeUndefined();
  });
});

it('a NIC kept in a former business cluster waits no more after its release', async () => {
  await delivered(scene);
  scene.otherViolas.set('biz-2', new FakeViola('second-'));
  const credentials = { openstackProviderID: 'cloud-1', projectID: 'project-1' };
  scene.edit({ credentials: { ...credentials, k8sProviderID: 'biz-2' } });
  await scene.look();
  allow();
  await scene.look();
  const node = scene.viola.nodes.get('worker-1') ?? expect.fail('worker-1 was delivered');
  scene.viola.put({ ...node, ...keeping('fa:16:3e:00:00:01') });
  await scene.look();
  expect(scene.status().heldRemovals?.digests).toHaveLength(8);
  allow('again');
  for (let looks = 0; looks < 3; looks++) {
    await scene.look();
    expect(scene.viola.bases.slice(2)).toEqual(['worker-1 consent']);
    expect(scene.status().heldRemovals).toBeUndefined();
  }
});

it('a held deletion stays held when the consent ends during a Viola outage', async () => {
  await deliverTwenty();
  await deleteAndHold();
  scene.viola.fail(503);
  allow();
  await scene.look();
  await scene.look(hourMs + 60_000);
  scene.viola.nodes.delete('worker-1');
  scene.viola.outage = undefined;
  scene.restart();
  await scene.look();
  await scene.look();
  expect(scene.viola.bases).toEqual([]);
  expect(scene.ready()).toContain('OverBudget: 10 NICs would be removed, and an earlier reconcile');
});

it('a consent older than the held deletion is refused with a message', async () => {
  await deliverTwenty();
  const value = scene.clock.now().toISOString();
  await scene.clock.advance(600_000);
  await deleteAndHold();
  allow(value);
  for (let looks = 0; looks < 3; looks++) {
    await scene.look();
    expect(scene.ready().split('the NICs stay')).toHaveLength(2);
    expect(scene.ready()).toContain(`the consent of ${value} is older than the hold of`);
  }
  expect(scene.viola.bases).toEqual([]);
});

it('a consent refused for a deletion ends when no NIC waits', async () => {
  await delivered(scene);
  scene.kube.delete();
  await scene.look();
  const value = new Date(scene.clock.now().getTime() - 2 * hourMs).toISOString();
  allow(value);
  scene.viola.fail(503);
  await scene.look();
  expect(scene.status().lastHandledAllowRemovals).toBeUndefined();
  scene.viola.outage = undefined;
  await scene.look(60_000);
  expect(scene.ready()).toBe('False Deleting: waits for cleanup on worker-1, worker-2');
  expect(scene.status().lastHandledAllowRemovals).toBe(value);
});

it.each<[what: string, deletionPolicy: 'Ask' | 'Delete', fail: () => Promise<unknown>]>([
  [
    'the process is killed',
    'Delete',
    async () => {
      const killed = new Error('killed');
      scene.killAt(scene.effects.length + 2, killed);
      await expect(scene.look()).rejects.toThrow(killed);
      scene.restart();
    },
  ],
  [
    'the status write fails',
    'Ask',
    async () => {
      const { applyStatus } = scene.kube;
      scene.kube.applyStatus = async () => {
        throw new Error('refused');
      };
      await expect(scene.look()).rejects.toThrow('refused');
      scene.kube.applyStatus = applyStatus;
    },
  ],
])(
  'a deletion with its namespace is no removal in progress when %s after a delivery',
  async (_, deletionPolicy, fail) => {
    await delivered(scene);
    scene.edit({ settings: { deletionPolicy }, vmNames: [serverIds[2] ?? ''] });
    await scene.look();
    scene.viola.clean();
    await scene.look();
    expect(scene.status()).toMatchObject({ summary: { interfaces: 0 }, removals: [{ nics: 2 }] });
    for (let n = 20; n < 28; n++) attach(scene.cloud, n, 3);
    await fail();
    expect(scene.nics('worker-3')).toHaveLength(8);
    const before = scene.viola.bases.length;
    scene.kube.terminating.add('multinic-system');
    scene.kube.delete();
    await scene.look();
    await scene.look();
    expect(scene.viola.bases.slice(before)).toEqual([]);
    expect(scene.ready()).toContain('SideEffect: namespace multinic-system is being deleted');
  },
);

it('the status marks the deletion by uid before the first DELETE', async () => {
  await delivered(scene);
  scene.kube.delete();
  const remove = scene.viola.remove.bind(scene.viola);
  scene.viola.remove = async (...args) => {
    expect(scene.status().withdrawal).toEqual({ uid: 'cr-uid', generation: 2 });
    return remove(...args);
  };
  await scene.look();
  expect(scene.viola.bases).toHaveLength(2);
});
