import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { FakeLegacyViola } from './testing/fake-legacy-viola.ts';
import {
  deliverToLegacy,
  legacySettings,
  manyServers,
  setLegacyScene,
} from './testing/legacy-scene.ts';
import { attach, detach, environment, type Scene, serverIds } from './testing/scene.ts';

let legacy: FakeLegacyViola;
let scene: Scene;

beforeEach(async () => {
  ({ scene, legacy } = await setLegacyScene());
});

afterEach(async () => scene[Symbol.asyncDispose]());

describe('a legacy Viola', () => {
  it('a legacy Viola gets bare nodes with NIC names from the inventory, without token or fence', async () => {
    await deliverToLegacy(scene);
    expect(legacy.posts).toHaveLength(1);
    expect(legacy.posts[0]?.headers).toEqual({ 'x-provider-id': 'biz-1' });
    expect(legacy.posts[0]?.nodes[0]).toEqual({
      nodeName: 'worker-1',
      instanceId: serverIds[0],
      interfaces: [1, 3].map((port, id) => ({
        id,
        name: `multinic${id}`,
        portId: `p${port}`,
        macAddress: `fa:16:3e:00:00:0${port}`,
        address: `10.0.10.${port}`,
        cidr: '10.0.10.0/24',
        mtu: 1450,
        deviceId: serverIds[0],
        networkId: 'net-a',
        subnetId: 'sub-a',
      })),
    });
    expect(scene.ready()).toContain('True Synced');
    expect(scene.condition('NICsReady')).toMatchObject({
      status: 'Unknown',
      reason: 'StatusUnsupported',
    });
    expect(scene.status().summary?.nics).toBe('?/3');
    expect(scene.status().nodes?.map(({ state }) => state)).toEqual(['Unknown', 'Unknown']);
  });

  it('NICsReady stays StatusUnsupported, and Delivered stays as posted, without syncs', async () => {
    await deliverToLegacy(scene);
    scene.trigger('mode: webhook');
    const before = scene.status();
    await scene.readNodes(600_000);
    expect(scene.status()).toEqual(before);
    expect(scene.condition('Delivered')?.status).toBe('True');
  });

  it('a legacy Viola gets an unchanged node once, even after a restart', async () => {
    await deliverToLegacy(scene);
    scene.restart();
    await scene.look();
    await scene.look();
    expect(legacy.sent()).toEqual([['worker-1', 'worker-2']]);
    expect(scene.ready()).toContain('True NoChange');
  });

  it('a legacy Viola gets a freed NIC index again for a new NIC, even after a restart', async () => {
    await deliverToLegacy(scene);
    detach(scene.cloud, 1);
    await scene.look();
    expect(legacy.nics('worker-1')).toEqual(['1 multinic1=p3']);
    scene.restart();
    attach(scene.cloud, 4, 1);
    await scene.look();
    expect(legacy.nics('worker-1').toSorted()).toEqual(['0 multinic0=p4', '1 multinic1=p3']);
  });

  it('a NIC index sent before a kill stays with its port, even if a lower MAC appears before the next sync', async () => {
    attach(scene.cloud, 3, 1);
    scene.create({ settings: legacySettings });
    legacy.after = () => {
      legacy.after = undefined;
      throw new Error('killed');
    };
    await scene.look();
    expect(legacy.nics('worker-1')).toEqual(['0 multinic0=p3']);
    scene.restart();
    // The lower MAC would sort first.
    attach(scene.cloud, 1, 1);
    await scene.look();
    expect(legacy.nics('worker-1').toSorted()).toEqual(['0 multinic0=p3', '1 multinic1=p1']);
  });

  it('a legacy Viola gets every node once, with unchanged NIC names, after a switch from a native Viola', async () => {
    attach(scene.cloud, 1, 1);
    attach(scene.cloud, 3, 1);
    scene.create();
    await scene.look();
    detach(scene.cloud, 1);
    await scene.look();
    scene.edit({ settings: legacySettings });
    await scene.look();
    await scene.look();
    expect(legacy.posts).toHaveLength(1);
    expect(legacy.nics('worker-1')).toEqual(['1 multinic1=p3']);
  });

  it('a legacy Viola needs no removal for a node without NICs after a native Viola removed the last NIC', async () => {
    attach(scene.cloud, 1, 1);
    attach(scene.cloud, 2, 2);
    scene.create();
    await scene.look();
    detach(scene.cloud, 2);
    await scene.look();
    await scene.look();
    expect(scene.viola.nodes.get('worker-2')?.spec.interfaces).toEqual([]);
    scene.edit({ settings: legacySettings });
    await scene.look();
    await scene.look();
    expect(legacy.sent()).toEqual([['worker-1']]);
    expect(scene.ready()).toContain('True');
    attach(scene.cloud, 4, 2);
    await scene.look();
    expect(legacy.sent()).toEqual([['worker-2']]);
  });

  it('a switch from a legacy to a native Viola keeps the NIC names', async () => {
    await deliverToLegacy(scene);
    detach(scene.cloud, 1);
    await scene.look();
    attach(scene.cloud, 4, 1);
    scene.edit({});
    await scene.look();
    expect(scene.nics('worker-1').toSorted()).toEqual(['multinic0=p4', 'multinic1=p3']);
    expect(legacy.nics('worker-1')).toEqual(['1 multinic1=p3']);
  });

  it('a legacy Viola gets a port from a notification exactly once', async () => {
    await deliverToLegacy(scene);
    legacy.sent();
    attach(scene.cloud, 4, 1);
    scene.cloudEvent({ servers: [serverIds[0] ?? ''] });
    await scene.look(1_000);
    await scene.look();
    expect(legacy.sent()).toEqual([['worker-1']]);
    expect(legacy.nics('worker-1')).toHaveLength(3);
  });

  it('a legacy Viola gets no node for an unconfirmed provider', async () => {
    scene.restart({ ...environment, LEGACY_VIOLA_PROVIDERS: 'biz-2' });
    await deliverToLegacy(scene);
    expect(scene.ready()).toContain(
      'False ConfigError: spec.settings.violaCompatibility is legacy',
    );
    expect(legacy.posts).toEqual([]);
  });

  it('a legacy Viola gets no node whose name belongs to several servers', async () => {
    await deliverToLegacy(scene);
    legacy.sent();
    scene.cloud.vms = scene.cloud.vms.map((vm) => ({ ...vm, name: 'worker-2' }));
    attach(scene.cloud, 5, 3);
    scene.edit({ settings: legacySettings, vmNames: serverIds });
    await scene.look();
    expect(legacy.sent()).toEqual([]);
    expect(scene.ready()).toContain('False NameConflict');
  });

  it('a legacy Viola gets no node recorded under the same name for a foreign OpenstackConfig', async () => {
    const other = { namespace: 'multinic-system', name: 'other', generation: 1 };
    const foreignNode = { nodeName: 'worker-1', instanceId: 'elsewhere', uid: 'u', generation: 1 };
    await scene.store.record('biz-1', other, [{ ...foreignNode, interfaces: [] }]);
    await deliverToLegacy(scene);
    expect(legacy.sent()).toEqual([['worker-2']]);
    expect(scene.ready()).toContain('False NameConflict: node worker-1 is configured by');
  });

  it('a NIC leaves a legacy Viola after an outage of Nova, because no sync held it above a budget', async () => {
    await deliverToLegacy(scene);
    detach(scene.cloud, 1);
    scene.cloud.fail('server', 'serverError');
    await scene.look();
    expect(scene.status().heldRemovals?.digests).toHaveLength(8);
    scene.cloud.heal();
    await scene.look();
    await scene.look();
    expect(legacy.nics('worker-1')).toEqual(['1 multinic1=p3']);
    expect(scene.ready()).not.toContain('OverBudget');
  });
});

describe('removals unsupported by a legacy Viola', () => {
  it("a node's last NIC is reported as RemovalUnsupported once, and forgotten after a new approval", async () => {
    await deliverToLegacy(scene);
    legacy.sent();
    detach(scene.cloud, 2);
    await scene.look();
    expect(scene.ready()).toContain(
      'False RemovalUnsupported: node worker-2: a legacy Viola cannot remove the last NIC of a node (here multinic0 (port p2))',
    );
    expect(scene.condition('Stalled')?.reason).toBe('RemovalUnsupported');
    const events = scene.events.length;
    for (let n = 0; n < 3; n++) await scene.look(300_000);
    expect(scene.events).toHaveLength(events);
    scene.kube.annotate({ 'multinic.io/allow-removals': 'done' });
    await scene.look();
    expect(scene.ready()).toContain('True');
    expect(legacy.sent()).toEqual([]);
    expect(await scene.store.list()).toMatchObject([{ nodeName: 'worker-1' }]);
    expect(scene.status().lastHandledAllowRemovals).toBe('done');
  });

  it('a deselected node stays recorded when the approval is older than the RemovalUnsupported report', async () => {
    await deliverToLegacy(scene);
    scene.kube.annotate({ 'multinic.io/allow-removals': 'early' });
    scene.edit({ settings: legacySettings, vmNames: serverIds.slice(0, 1) });
    await scene.look();
    await scene.look();
    expect(scene.ready()).toContain('False RemovalUnsupported: node worker-2');
    expect(scene.status().lastHandledAllowRemovals).toBe('early');
    expect(await scene.store.list()).toHaveLength(2);
  });

  it('removing one of two NICs on 30 nodes is blocked, as with a native Viola', async () => {
    const ids = manyServers(scene, 30);
    addSecondPorts(scene);
    scene.create({ settings: legacySettings, vmNames: ids, subnetIDs: ['sub-a', 'sub-b'] });
    await scene.look();
    legacy.sent();
    scene.edit({ settings: legacySettings, vmNames: ids, subnetIDs: ['sub-a'] });
    await scene.look();
    expect(scene.ready()).toContain(
      'False RemovalHeld: OverBudget: 30 of 30 nodes in the business cluster',
    );
    expect(legacy.sent()).toEqual([]);
    scene.kube.annotate({ 'multinic.io/allow-removals': 'yes' });
    await scene.look();
    expect(legacy.nics('worker-7')).toEqual(['0 multinic0=p7']);
  });

  it('removing the last NICs on 28 nodes is RemovalUnsupported, without a RemovalHeld before', async () => {
    const ids = manyServers(scene, 30);
    scene.create({ settings: legacySettings, vmNames: ids });
    await scene.look();
    scene.edit({ settings: legacySettings, vmNames: ids.slice(28) });
    await scene.look();
    await scene.look();
    expect(scene.ready()).toContain('False RemovalUnsupported: node worker-0: ');
    // The status lists at most twenty nodes.
    for (const consent of ['first', 'second']) {
      scene.kube.annotate({ 'multinic.io/allow-removals': consent });
      await scene.look();
      await scene.look();
    }
    expect(scene.ready()).toContain('True');
    expect(await scene.store.list()).toHaveLength(2);
  });

  it("a node's last NIC stays recorded when an approval releases blocked removals", async () => {
    const ids = manyServers(scene, 30);
    addSecondPorts(scene);
    // worker-0 has only port p0.
    scene.cloud.ports = scene.cloud.ports.filter(({ id }) => id !== 'q0');
    const selected = { settings: legacySettings, vmNames: ids };
    scene.create({ ...selected, subnetIDs: ['sub-a', 'sub-b'] });
    await scene.look();
    detach(scene.cloud, 0);
    scene.edit({ ...selected, subnetIDs: ['sub-a'] });
    await scene.look();
    await scene.look();
    expect(scene.ready()).toMatch(
      /False RemovalHeld: OverBudget: 29 of .*; node worker-0: a legacy Viola/,
    );
    scene.kube.annotate({ 'multinic.io/allow-removals': 'of the others' });
    await scene.look();
    expect(legacy.nics('worker-7')).toEqual(['0 multinic0=p7']);
    expect(scene.ready()).toContain('False RemovalUnsupported: node worker-0');
    expect(await scene.store.list()).toHaveLength(30);
    scene.kube.annotate({ 'multinic.io/allow-removals': 'worker-0 is clean' });
    await scene.look();
    expect(await scene.store.list()).toHaveLength(29);
  });

  it('nodes in the former business cluster stay until a new approval', async () => {
    await deliverToLegacy(scene);
    const credentials = { openstackProviderID: 'cloud-1', k8sProviderID: 'biz-2', projectID: 'p' };
    scene.edit({ settings: legacySettings, credentials });
    await scene.look();
    await scene.look();
    expect(legacy.objects.has('biz-2/worker-1')).toBe(true);
    expect(scene.ready()).toMatch(
      /False RemovalUnsupported: .*"biz-1" still has worker-1, worker-2/,
    );
    scene.kube.annotate({ 'multinic.io/allow-removals': 'done' });
    await scene.look();
    expect(scene.ready()).toContain('True');
    expect(scene.status().deliveredTo).toEqual(['biz-2']);
  });

  it('a deleted OpenstackConfig is released, and its Event names the remaining nodes', async () => {
    await deliverToLegacy(scene);
    scene.kube.delete();
    await scene.look();
    await scene.look();
    expect(scene.object()).toBeUndefined();
    const event = scene.events.find(({ reason }) => reason === 'RemovalUnsupported');
    expect(event?.message).toContain('business cluster "biz-1" still has worker-1, worker-2');
    expect(legacy.objects.size).toBe(2);
    expect(await scene.store.list()).toEqual([]);
  });

  it('a deleted OpenstackConfig is released, and the log names every remaining node', async () => {
    const ids = manyServers(scene, 7);
    scene.create({ settings: legacySettings, vmNames: ids });
    await scene.look();
    scene.kube.delete();
    await scene.look();
    const lines = scene.lines.filter((line) => line.includes('still has'));
    const nodes = ids.map((_, n) => `worker-${n}`);
    expect(lines.map((line): unknown => JSON.parse(line))).toMatchObject([
      { providerId: 'biz-1', nodes },
    ]);
    expect(scene.ready()).toContain('worker-4 and 2 more');
  });

  it('a deleted OpenstackConfig is released while the inventory fails, and its Event names the business cluster', async () => {
    await deliverToLegacy(scene);
    scene.failStore(new Error('database is down'));
    scene.kube.delete();
    await scene.look();
    await scene.look();
    expect(scene.object()).toBeUndefined();
    const event = scene.events.find(({ reason }) => reason === 'RemovalUnsupported');
    expect(event?.message).toContain('business cluster "biz-1" still has nodes');
  });
});

/** Adds a port qN in subnet sub-b beside each port pN. */
function addSecondPorts({ cloud }: Scene): void {
  const extra = cloud.ports.map((port, n) => {
    const fixedIps = [{ subnetId: 'sub-b', ipAddress: `10.0.20.${n}` }];
    const macAddress = port.macAddress.replace('fa:16:3e:00', 'fa:16:3e:01');
    return { ...port, id: `q${n}`, networkId: 'net-b', macAddress, fixedIps };
  });
  cloud.ports = [...cloud.ports, ...extra];
}
