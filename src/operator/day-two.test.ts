import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { attach, delivered, detach, type Scene, serverIds, setScene } from './testing/scene.ts';

const [s1 = '', , s3 = ''] = serverIds;
/** Longer than a cached server list is valid. */
const later = 61_000;
let scene: Scene;

beforeEach(async () => {
  scene = await setScene();
});

afterEach(async () => scene[Symbol.asyncDispose]());

/** Sets Nova's status of worker-1 and Neutron's status of its port, as during an operation. */
function set(server: string, port: string): void {
  scene.cloud.vms = scene.cloud.vms.map((vm) => (vm.id === s1 ? { ...vm, status: server } : vm));
  scene.cloud.ports = scene.cloud.ports.map((each) =>
    each.id === 'p1' ? { ...each, status: port, revisionNumber: each.revisionNumber + 1 } : each,
  );
}

type Step = readonly [server: string, port: string];
const active: Step = ['ACTIVE', 'ACTIVE'];

describe('operations in docs/guides/day-two.md', () => {
  beforeEach(async () => delivered(scene));

  it.each<[string, ...Step[]]>([
    ['a reboot', ['HARD_REBOOT', 'DOWN'], active],
    ['a stop and a start', ['SHUTOFF', 'DOWN'], active],
    ['pause and suspend', ['PAUSED', 'ACTIVE'], ['SUSPENDED', 'DOWN'], active],
    ['a rescue', ['RESCUE', 'DOWN'], ['RESCUE', 'ACTIVE'], active],
    ['a live migration', ['MIGRATING', 'BUILD'], ['MIGRATING', 'DOWN'], active],
    ['a cold migration', ['RESIZE', 'DOWN'], ['VERIFY_RESIZE', 'BUILD'], active],
    ['a resize', ['RESIZE', 'DOWN'], ['VERIFY_RESIZE', 'ACTIVE'], active],
    ['a reverted resize', ['VERIFY_RESIZE', 'ACTIVE'], ['REVERT_RESIZE', 'DOWN'], active],
    ['a rebuild', ['REBUILD', 'DOWN'], ['REBUILD', 'BUILD'], active],
    ['an evacuation', ['ACTIVE', 'DOWN'], ['ERROR', 'DOWN'], ['REBUILD', 'BUILD'], active],
    ['shelve and unshelve', ['SHELVED', 'DOWN'], ['SHELVED_OFFLOADED', 'DOWN'], active],
  ])('a NIC stays without a POST during %s', async (_, ...steps) => {
    const posts = scene.viola.posts.length;
    for (const step of steps) {
      set(...step);
      await scene.look(later);
      expect(scene.nics('worker-1')).toEqual(['multinic0=p1']);
      expect(scene.ready()).toMatch(/^True /);
    }
    expect([scene.viola.posts.length, scene.viola.removals]).toEqual([posts, []]);
  });

  it('a NIC stays on a soft-deleted server, also after a restore, and leaves when Nova deletes the server', async () => {
    for (const [server, ready] of [
      ['SOFT_DELETED', 'False ServerSoftDeleted'],
      ['ACTIVE', 'True '],
      ['SOFT_DELETED', 'False ServerSoftDeleted'],
    ] as const) {
      set(server, 'ACTIVE');
      await scene.look(later);
      expect(scene.nics('worker-1')).toEqual(['multinic0=p1']);
      expect(scene.ready()).toContain(ready);
    }
    set('DELETED', 'DOWN');
    detach(scene.cloud, 1);
    await scene.look(later);
    expect(scene.nics('worker-1')).toEqual([]);
  });
});

/** Deletes worker-1 and boots a server of the name from its volume. */
function recreate(): void {
  set('DELETED', 'DOWN');
  scene.cloud.vms = scene.cloud.vms.map((vm) => (vm.id === s3 ? { ...vm, name: 'worker-1' } : vm));
}

describe('a volume-backed server created again from the volume', () => {
  it.each([
    ['the former ports', () => moveTo(s3), 'multinic0=p1'],
    ['new ports', () => replaceBy(3), 'multinic0=p3'],
  ])('a server selected by name gets NICs again with %s', async (_, change, nic) => {
    attach(scene.cloud, 1, 1);
    scene.create({ vmNames: ['worker-1'] });
    await scene.look();
    recreate();
    change();
    for (let n = 0; n < 3; n++) {
      await scene.look(later);
      scene.viola.clean();
    }
    expect(scene.nics('worker-1')).toEqual([nic]);
    expect(scene.viola.nodes.get('worker-1')?.spec.instanceId).toBe(s3);
    expect(scene.ready()).toMatch(/^True /);
  });
});

function moveTo(deviceId: string): void {
  scene.cloud.ports = scene.cloud.ports.map((port) => ({
    ...port,
    deviceId,
    revisionNumber: port.revisionNumber + 1,
  }));
}

function replaceBy(n: number): void {
  detach(scene.cloud, 1);
  attach(scene.cloud, n, 3);
}
