import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Port } from '../openstack/resources.ts';
import { attach, delivered, type Scene, serverIds, setScene } from './testing/scene.ts';

const [first = ''] = serverIds;
let scene: Scene;

beforeEach(async () => {
  scene = await setScene();
  await delivered(scene);
  await scene.look();
});

afterEach(async () => scene[Symbol.asyncDispose]());

/** Syncs with these ports as the answer from a lagging Neutron database. */
async function syncWithAnswer(ports: readonly Port[]): Promise<void> {
  scene.cloud.ports = [...ports];
  await scene.clock.advance(10);
  scene.cloudEvent({ servers: [first] });
  await scene.reconcile(300);
}

function changed(ports: readonly Port[], id: string, what: Partial<Port>): Port[] {
  return ports.map((port) =>
    port.id === id ? { ...port, revisionNumber: port.revisionNumber + 1, ...what } : port,
  );
}

describe('a stale Neutron answer', () => {
  it.each(['created for the server', 'created earlier'])(
    'a stale Neutron answer removes no NIC when its port was %s',
    async (how) => {
      scene.cloud.holdNovaEvents();
      const before = [...scene.cloud.ports];
      attach(scene.cloud, 3, 1);
      const made = changed(scene.cloud.ports, 'p3', { deviceId: '', status: 'DOWN' });
      const attached = changed(made, 'p3', { deviceId: first, status: 'DOWN' });
      await syncWithAnswer(attached);
      expect(scene.nics('worker-1')).toEqual(['multinic0=p1', 'multinic1=p3']);
      await syncWithAnswer(how === 'created earlier' ? made : before);
      expect(scene.nics('worker-1')).toEqual(['multinic0=p1', 'multinic1=p3']);
      scene.cloud.releaseNovaEvents();
      await syncWithAnswer(attached);
      await scene.look(2_000);
      expect(scene.nics('worker-1')).toEqual(['multinic0=p1', 'multinic1=p3']);
      expect(scene.ready()).toContain('True');
    },
  );

  it('a stale Neutron answer restores no NIC for a detached port', async () => {
    const before = [...scene.cloud.ports];
    await syncWithAnswer(changed(before, 'p1', { deviceId: '', status: 'DOWN' }));
    expect(scene.nics('worker-1')).toEqual([]);
    await syncWithAnswer(before);
    expect(scene.nics('worker-1')).toEqual([]);
  });

  it('a stale Neutron answer restores no earlier address', async () => {
    const address = () => scene.viola.nodes.get('worker-1')?.spec.interfaces?.[0]?.address;
    const before = [...scene.cloud.ports];
    const fixedIps = [{ subnetId: 'sub-a', ipAddress: '10.0.10.77' }];
    await syncWithAnswer(changed(before, 'p1', { fixedIps }));
    expect(address()).toBe('10.0.10.77');
    await syncWithAnswer(before);
    expect(address()).toBe('10.0.10.77');
  });
});

it('a port attached and deleted shortly after loses its NIC after 8 seconds with Nova retries', async () => {
  attach(scene.cloud, 3, 1);
  const down = changed(scene.cloud.ports, 'p3', { status: 'DOWN' });
  await syncWithAnswer(down);
  await syncWithAnswer(down.filter(({ id }) => id !== 'p3'));
  expect(scene.nics('worker-1')).toHaveLength(2);
  for (const ms of [1_000, 2_000, 5_000]) await scene.reconcile(ms);
  expect(scene.nics('worker-1')).toEqual(['multinic0=p1']);
  expect(scene.ready()).toContain('True');
});
