import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { FakeCloud } from './testing/fake-cloud.ts';
import {
  attach,
  delivered,
  detach,
  type Scene,
  serverIds,
  setScene,
  spec,
} from './testing/scene.ts';

let scene: Scene;

beforeEach(async () => {
  scene = await setScene();
});

afterEach(async () => scene[Symbol.asyncDispose]());

function change(id: string, with_: object): void {
  scene.cloud.ports = scene.cloud.ports.map((port) =>
    port.id === id ? { ...port, ...with_ } : port,
  );
}

describe('a NIC without evidence for a removal', () => {
  it('a NIC stays, with RemovalUnconfirmed, when the account may no longer read its port', async () => {
    await delivered(scene);
    scene.cloud.hidden.add('p1');
    await scene.look();
    expect(scene.nics('worker-1')).toEqual(['multinic0=p1']);
    expect(scene.ready()).toContain('False RemovalUnconfirmed: node worker-1: multinic0 (port p1)');
  });

  it('a NIC stays, with ServerNotFound, when the CR is edited to a wrong project with a readable shared subnet', async () => {
    await delivered(scene);
    const wrong = new FakeCloud('project-2');
    wrong.subnets = scene.cloud.subnets;
    wrong.networks = scene.cloud.networks;
    scene.clouds.projects.set('project-2', wrong);
    scene.edit({ credentials: { ...spec.credentials, projectID: 'project-2' } });
    for (let n = 0; n < 3; n++) await scene.look();
    expect(scene.nics('worker-1')).toEqual(['multinic0=p1']);
    expect(scene.nics('worker-2')).toEqual(['multinic0=p2']);
    expect(scene.ready()).toContain('False ServerNotFound');
    expect(scene.viola.posts).toHaveLength(1);
  });

  it('a NIC stays, with RemovalUnconfirmed, while its port is listed without addresses', async () => {
    await delivered(scene);
    change('p1', { fixedIps: [] });
    for (let n = 0; n < 3; n++) await scene.look();
    expect(scene.nics('worker-1')).toEqual(['multinic0=p1']);
    expect(scene.ready()).toContain(
      'RemovalUnconfirmed: node worker-1: multinic0 (port p1) has no address',
    );
    change('p1', { fixedIps: [{ subnetId: 'sub-a', ipAddress: '10.0.10.1' }] });
    await scene.look();
    expect(scene.ready()).toBe('True NoChange: no changes detected');
  });

  it('a NIC stays, with RemovalUnconfirmed, when a different subnet takes the subnet name', async () => {
    attach(scene.cloud, 1, 1);
    scene.create({ subnetIDs: [], subnetName: 'subnet-a' });
    await scene.look();
    expect(scene.nics('worker-1')).toEqual(['multinic0=p1']);
    scene.cloud.subnets = scene.cloud.subnets.map((subnet) => ({
      ...subnet,
      name: subnet.id === 'sub-b' ? 'subnet-a' : 'old',
    }));
    await scene.look();
    expect(scene.nics('worker-1')).toEqual(['multinic0=p1']);
    expect(scene.ready()).toContain('False RemovalUnconfirmed');
  });

  it('a NIC stays, with Ready True, when only the case in a subnet id was edited', async () => {
    await delivered(scene);
    scene.edit({ subnetIDs: ['SUB-A'] });
    await scene.look();
    expect(scene.nics('worker-1')).toEqual(['multinic0=p1']);
    expect(scene.ready()).toBe('True NoChange: no changes detected');
  });

  it("a detached NIC stays until Neutron's event has reached Nova", async () => {
    await delivered(scene);
    scene.cloud.holdNovaEvents();
    detach(scene.cloud, 1);
    await scene.look();
    expect(scene.nics('worker-1')).toEqual(['multinic0=p1']);
    scene.cloud.releaseNovaEvents();
    await scene.look();
    expect(scene.nics('worker-1')).toEqual([]);
  });
});

describe('a deleted server', () => {
  it('a deleted server loses its NICs when Nova lists the deletion, even if this process has never observed the server', async () => {
    await delivered(scene);
    scene.restart();
    scene.cloud.vms = scene.cloud.vms.map((vm) =>
      vm.id === serverIds[0] ? { ...vm, status: 'DELETED' } : vm,
    );
    detach(scene.cloud, 1);
    await scene.look();
    expect(scene.nics('worker-1')).toEqual([]);
    expect(scene.nics('worker-2')).toEqual(['multinic0=p2']);
  });

  it('a 404 server loses its NICs only if the account has observed the server before', async () => {
    await delivered(scene);
    scene.cloud.vms = scene.cloud.vms.filter(({ id }) => id !== serverIds[0]);
    detach(scene.cloud, 1);
    scene.restart();
    await scene.look();
    expect(scene.nics('worker-1')).toEqual(['multinic0=p1']);
    scene.cloud.vms = scene.cloud.vms.filter(({ id }) => id !== serverIds[1]);
    detach(scene.cloud, 2);
    await scene.look();
    expect(scene.nics('worker-2')).toEqual([]);
  });
});

function removed(): number {
  const nodes = [...scene.viola.nodes.values()];
  return 20 - nodes.reduce((sum, { spec: { interfaces = [] } }) => sum + interfaces.length, 0);
}

describe('approval of many removals', () => {
  beforeEach(async () => {
    for (let n = 1; n <= 20; n++) attach(scene.cloud, n, n <= 10 ? 1 : 2);
    scene.create();
    await scene.look();
  });

  it('a consent stays open with a count while the port is unreadable', async () => {
    change('p1', { fixedIps: [] });
    await scene.look();
    expect(scene.ready()).toContain('has no address in a selected subnet; the NIC stays');
    scene.cloud.fail('port', 'serverError');
    scene.kube.annotate({ 'multinic.io/allow-removals': 'yes' });
    await scene.look();
    expect(removed()).toBe(0);
    expect(scene.status().openAllowRemovals).toMatchObject({ value: 'yes', nics: 1, nodes: 1 });
    scene.cloud.heal();
    await scene.look();
    expect(removed()).toBe(1);
    expect(scene.status().lastHandledAllowRemovals).toBe('yes');
  });

  it('[W0] a removal approval is used up although a node without removals cannot be delivered', async () => {
    scene.edit({ subnetIDs: ['sub-b'] });
    await scene.look();
    scene.edit({ subnetIDs: ['sub-a'] });
    change('p1', { fixedIps: [] });
    await scene.look();
    scene.viola.refused.set('worker-2', 'FieldConflict');
    detach(scene.cloud, 20);
    scene.kube.annotate({ 'multinic.io/allow-removals': 'yes' });
    await scene.look();
    expect(removed()).toBe(1);
    expect(scene.status().lastHandledAllowRemovals).toBe('yes');
  });

  it('a removal approval is over when nothing waits because a selected subnet is unreadable', async () => {
    scene.edit({ subnetIDs: ['sub-a', 'sub-b'] });
    await scene.look();
    change('p1', { fixedIps: [] });
    scene.cloud.fail('subnet sub-b', 'serverError');
    scene.kube.annotate({ 'multinic.io/allow-removals': 'yes' });
    await scene.look();
    expect(scene.status().lastHandledAllowRemovals).toBe('yes');
    scene.cloud.heal();
    await scene.look();
    expect(removed()).toBe(0);
  });

  it('a removal approval covers 60 NICs without address, even if reading their ports takes two syncs', async () => {
    const ids = Array.from({ length: 6 }, (_, n) => `00000000-0000-4000-8000-00000000010${n}`);
    scene.cloud.vms = ids.map((id, n) => ({ id, name: `w-${n}`, status: 'ACTIVE', metadata: {} }));
    scene.cloud.ports = [];
    for (let n = 0; n < 60; n++) {
      attach(scene.cloud, n + 1, 1);
      const port = scene.cloud.ports.pop();
      if (port) scene.cloud.ports.push({ ...port, deviceId: ids[n % 6] ?? '' });
    }
    scene.viola.nodes.clear();
    scene.edit({ vmNames: ids });
    await scene.look();
    expect(removed()).toBe(20 - 60);
    scene.cloud.ports = scene.cloud.ports.map((port) => ({ ...port, fixedIps: [] }));
    await scene.look();
    scene.kube.annotate({ 'multinic.io/allow-removals': 'yes' });
    await scene.reconcile(15_000);
    expect(removed()).toBe(20 - 60 + 50);
    expect(scene.status().openAllowRemovals).toMatchObject({ nics: 10 });
    await scene.look();
    expect(removed()).toBe(20);
    expect(scene.ready()).toContain('True');
    expect(scene.status().lastHandledAllowRemovals).toBe('yes');
  });

  it('the Ready message asks for removal approval even with four missing subnets', async () => {
    scene.edit({ vmNames: serverIds.slice(2) });
    await scene.look();
    const wrong = ['sub-x', 'sub-y', 'sub-z', 'sub-w'];
    scene.edit({ subnetIDs: [...wrong, 'sub-a'], vmNames: serverIds.slice(2) });
    await scene.look();
    expect(scene.ready()).toContain('False SubnetNotFound');
    expect(scene.ready()).toContain('OverBudget: 20 of 20 NICs in the business cluster');
    expect(scene.condition('Delivered')?.message).toMatch(/^OverBudget: /);
  });
});
