import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { annotations } from '../api/names.ts';
import { attach, delivered, detach, type Scene, serverIds, setScene } from './testing/scene.ts';

let scene: Scene;

beforeEach(async () => {
  scene = await setScene();
  await delivered(scene);
  for (let poll = 0; poll < 3; poll++) await scene.look();
});

afterEach(async () => scene[Symbol.asyncDispose]());

const existing = (name: string) =>
  scene.viola.nodes.get(name) ?? expect.fail(`${name} was delivered`);
const firstNic = () => existing('worker-1').spec.interfaces?.[0];

/** Returns the list with one item changed. */
function changed<T extends { readonly id: string }>(
  items: readonly T[],
  id: string,
  to: Partial<T>,
) {
  return items.map((item) => (item.id === id ? { ...item, ...to } : item));
}

/** Changes after several polls without changes, and the next poll's result. */
const changes: readonly (readonly [
  what: string,
  change: () => void,
  observe: () => unknown,
  result: unknown,
])[] = [
  [
    'an attached port',
    () => attach(scene.cloud, 3, 1),
    () => scene.nics('worker-1'),
    ['multinic0=p1', 'multinic1=p3'],
  ],
  ['a detached port', () => detach(scene.cloud, 1), () => scene.nics('worker-1'), []],
  [
    'a new port address',
    () => {
      const fixedIps = [{ subnetId: 'sub-a', ipAddress: '10.0.10.77' }];
      scene.cloud.ports = changed(scene.cloud.ports, 'p1', { fixedIps, revisionNumber: 2 });
    },
    () => firstNic()?.address,
    '10.0.10.77',
  ],
  [
    'a new network MTU',
    () => {
      scene.cloud.networks = changed(scene.cloud.networks, 'net-a', { mtu: 1400 });
    },
    () => firstNic()?.mtu,
    1400,
  ],
  [
    'a new subnet gateway',
    () => {
      scene.cloud.subnets = changed(scene.cloud.subnets, 'sub-a', { gatewayIp: '10.0.10.254' });
    },
    () => firstNic()?.gateway,
    '10.0.10.254',
  ],
  [
    'a new server status',
    () => {
      scene.cloud.vms = changed(scene.cloud.vms, serverIds[0] ?? '', { status: 'DELETED' });
    },
    () => scene.ready(),
    expect.stringContaining('ServerNotFound'),
  ],
  [
    'a NIC edited in the business cluster',
    () => {
      const node = existing('worker-1');
      const interfaces = node.spec.interfaces?.map((nic) => ({ ...nic, mtu: 9000 })) ?? [];
      scene.viola.put({ ...node, generation: 2, spec: { ...node.spec, interfaces } });
    },
    () => firstNic()?.mtu,
    1450,
  ],
  [
    'an object deleted in the business cluster',
    () => scene.viola.nodes.delete('worker-1'),
    () => scene.nics('worker-1'),
    ['multinic0=p1'],
  ],
  [
    'the status of an object in the business cluster',
    () =>
      scene.viola.put({
        ...existing('worker-1'),
        status: { state: 'Failed', observedGeneration: 1 },
      }),
    () => scene.status().nodes?.[0],
    expect.objectContaining({ name: 'worker-1', state: 'Failed' }),
  ],
  [
    'an edit of the OpenstackConfig',
    () => scene.edit({ vmNames: serverIds.slice(1, 2) }),
    () => scene.viola.removals,
    ['worker-1'],
  ],
  [
    'a new reconcile-at value',
    () => scene.kube.annotate({ [annotations.reconcileAt]: 'now' }),
    () => scene.viola.posts.length,
    2,
  ],
  [
    'a failing Neutron',
    () => scene.cloud.fail('portsOf', 'timeout'),
    () => scene.ready(),
    expect.stringContaining('NeutronPortError'),
  ],
];

describe('polls without changes', () => {
  it('a poll without changes writes nothing, and renews lastSyncedAt', async () => {
    const { posts } = scene.viola;
    const before = scene.status().lastSyncedAt;
    const sent = posts.length;
    for (let poll = 0; poll < 3; poll++) await scene.look(300_000);
    expect(posts).toHaveLength(sent);
    expect(scene.status().lastSyncedAt).not.toBe(before);
    expect(scene.ready()).toBe('True NoChange: no changes detected');
  });

  it.each(changes)(
    'the next poll after several polls without changes acts on %s',
    async (_, change, observe, result) => {
      change();
      expect(observe()).not.toEqual(result);
      await scene.look();
      expect(observe()).toEqual(result);
    },
  );
});
