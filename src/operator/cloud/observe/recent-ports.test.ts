import { expect, it } from 'vitest';
import type { Port } from '../../../openstack/resources.ts';
import { createFakeClock } from '../../../time/fake-clock.ts';
import { FakeCloud } from '../../testing/fake-cloud.ts';
import { attach } from '../../testing/scene.ts';
import { RecentPorts } from './recent-ports.ts';

it('RecentPorts.latest() returns the changed port for 60 s, then the port as read', async () => {
  const clock = createFakeClock();
  const recent = new RecentPorts(clock);
  const cloud = new FakeCloud();
  for (const n of [1, 2]) attach(cloud, n, 1);
  const [port, other] = cloud.ports as [Port, Port];
  const changed = { ...port, revisionNumber: 2 };
  recent.note(changed, port);
  await clock.advance(59_999);
  recent.note(other, undefined);
  expect(recent.latest(port)).toBe(changed);
  await clock.advance(1);
  // No other port changes: only the time ends the memory, as after a restore of Neutron's database.
  expect(recent.latest(port)).toBe(port);
});

it('RecentPorts.isSettling() is false after a port was listed again unchanged', async () => {
  const clock = createFakeClock();
  const recent = new RecentPorts(clock);
  const cloud = new FakeCloud();
  attach(cloud, 1, 1);
  const port: Port = { ...(cloud.ports[0] as Port), status: 'DOWN' };
  recent.note(port, undefined);
  expect(recent.isSettling(port.id)).toBe(true);
  await clock.advance(5_000);
  recent.note(port, port);
  expect(recent.isSettling(port.id)).toBe(false);
});
