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

/** Delivers 80 NICs on eight servers. */
async function deliverEighty(): Promise<void> {
  const ids = Array.from({ length: 8 }, (_, n) => `00000000-0000-4000-8000-00000000010${n}`);
  scene.cloud.vms = ids.map((id, n) => ({ id, name: `w-${n}`, status: 'ACTIVE', metadata: {} }));
  scene.cloud.ports = [];
  for (let n = 0; n < 80; n++) {
    attach(scene.cloud, n + 1, 1);
    const port = scene.cloud.ports.pop();
    if (port) scene.cloud.ports.push({ ...port, deviceId: ids[n % 8] ?? '' });
  }
  scene.edit({ vmNames: ids });
  scene.kube.annotate({ 'multinic.io/allow-removals': 'of the twenty before' });
  await scene.look();
  scene.viola.clean();
}

describe('approval of many removals', () => {
  beforeEach(async () => {
    for (let n = 1; n <= 20; n++) attach(scene.cloud, n, n <= 10 ? 1 : 2);
    scene.create();
    await scene.look();
  });

  it('a removal approval is not used up by a sync without complete evidence', async () => {
    for (let n = 1; n <= 11; n++) detach(scene.cloud, n);
    scene.cloud.fail('server', 'serverError');
    scene.kube.annotate({ 'multinic.io/allow-removals': 'yes' });
    await scene.look();
    expect(removed()).toBe(0);
    expect(scene.status().lastHandledAllowRemovals).toBeUndefined();
    scene.cloud.heal();
    await scene.look();
    expect(removed()).toBe(11);
    expect(scene.status().lastHandledAllowRemovals).toBe('yes');
  });

  it('[W0] a removal approval expires after ten minutes, used up or not', async () => {
    for (let n = 1; n <= 11; n++) detach(scene.cloud, n);
    scene.cloud.fail('server', 'serverError');
    scene.kube.annotate({ 'multinic.io/allow-removals': 'yes' });
    await scene.look();
    await scene.look(9 * 60_000);
    expect(scene.status().openAllowRemovals?.value).toBe('yes');
    await scene.look(2 * 60_000);
    expect(scene.status()).toMatchObject({ lastHandledAllowRemovals: 'yes' });
    expect(scene.status().openAllowRemovals).toBeUndefined();
    scene.cloud.heal();
    await scene.look();
    expect(removed()).toBe(0);
    expect(scene.ready()).toContain('False RemovalHeld');
  });

  it('[W0] a removal approval is used up although a node without removals cannot be delivered', async () => {
    for (let n = 1; n <= 10; n++) detach(scene.cloud, n);
    scene.viola.refused.set('worker-2', 'FieldConflict');
    attach(scene.cloud, 30, 2);
    scene.kube.annotate({ 'multinic.io/allow-removals': 'yes' });
    await scene.look();
    expect(removed()).toBe(10);
    expect(scene.status().lastHandledAllowRemovals).toBe('yes');
  });

  it('a removal approval is not used up by a sync with an unreadable selected subnet', async () => {
    scene.edit({ subnetIDs: ['sub-a', 'sub-b'] });
    await scene.look();
    change('p1', { fixedIps: [] });
    scene.cloud.fail('subnet sub-b', 'serverError');
    scene.kube.annotate({ 'multinic.io/allow-removals': 'yes' });
    await scene.look();
    expect(removed()).toBe(0);
    expect(scene.status().lastHandledAllowRemovals).toBeUndefined();
    scene.cloud.heal();
    await scene.look();
    expect(removed()).toBe(1);
    expect(scene.status().lastHandledAllowRemovals).toBe('yes');
  });

  it("removing more than a fifth of the cloud's NICs needs approval, and each NIC counts once", async () => {
    await deliverEighty();
    for (let n = 1; n <= 16; n++) detach(scene.cloud, n);
    await scene.look();
    expect(removed()).toBe(20 - 80 + 16);
    for (let n = 17; n <= 30; n++) detach(scene.cloud, n);
    await scene.look();
    expect(removed()).toBe(20 - 80 + 16);
    expect(scene.ready()).toContain(
      '14 NICs would be removed at once, more than the 12 that need no consent',
    );
  });

  it('a removal approval covers all 80 removals, even if the evidence takes two syncs', async () => {
    await deliverEighty();
    scene.cloud.ports = [];
    await scene.look();
    expect(scene.ready()).toContain('False RemovalHeld');
    scene.kube.annotate({ 'multinic.io/allow-removals': 'yes' });
    await scene.look();
    await scene.look();
    expect(removed()).toBe(20);
    expect(scene.ready()).toContain('True');
    expect(scene.status().lastHandledAllowRemovals).toBe('yes');
  });

  it('the Ready message asks for removal approval even with four missing subnets', async () => {
    for (let n = 1; n <= 11; n++) detach(scene.cloud, n);
    const wrong = ['sub-x', 'sub-y', 'sub-z', 'sub-w'];
    scene.edit({ subnetIDs: [...wrong, 'sub-a'] });
    await scene.look();
    expect(scene.ready()).toContain('False SubnetNotFound');
    expect(scene.ready()).toContain('set the annotation multinic.io/allow-removals');
  });
});
