import { expect, it } from 'vitest';
import type { Server } from '../../../openstack/resources.ts';
import { createFakeClock } from '../../../time/fake-clock.ts';
import { FakeCloud } from '../../testing/fake-cloud.ts';
import { mostObservedServers, ObservedServers } from './cloud-view.ts';

const { signal } = new AbortController();

function serversOf(ids: readonly string[], projectId: string): ReadonlyMap<string, Server> {
  return new Map(
    ids.map((id) => [id, { id, name: id, status: 'ACTIVE', metadata: {}, projectId }]),
  );
}

it('a server found again after a 404 is read again before ObservedServers reports the server as missing', async () => {
  const cloud = new FakeCloud();
  const observedServers = new ObservedServers(createFakeClock());
  const missing = async () =>
    observedServers.missing(cloud, ['s1'], await cloud.servers(['s1']), signal);
  expect(await missing()).toEqual(['s1']);
  cloud.vms = [{ id: 's1', name: 'n', status: 'ACTIVE', metadata: {} }];
  expect(await missing()).toEqual([]);
  // A list without the server proves nothing.
  expect(await observedServers.missing(cloud, ['s1'], new Map(), signal)).toEqual([]);
});

it('ObservedServers remembers the last 50,000 observed servers, and every present server', async () => {
  const cloud = new FakeCloud();
  const observedServers = new ObservedServers(createFakeClock());
  const rounds = mostObservedServers / 1_000;
  for (let round = 0; round < rounds; round++) {
    const there = ['stays', ...Array.from({ length: 1_000 }, (_, n) => `s${1_000 * round + n}`)];
    await observedServers.missing(cloud, there, serversOf(there, cloud.projectId), signal);
  }
  expect(observedServers.hasObservedOwn('s0')).toBe(false);
  expect(observedServers.hasObservedOwn('stays')).toBe(true);
  expect(observedServers.hasObservedOwn(`s${mostObservedServers - 1}`)).toBe(true);
  expect(observedServers.size).toBe(mostObservedServers);
});

it('ObservedServers drops a cached 404 after 5 minutes', async () => {
  const cloud = new FakeCloud();
  const clock = createFakeClock();
  const observedServers = new ObservedServers(clock);
  for (let n = 0; n < 20; n++) {
    expect(await observedServers.missing(cloud, [`s${n}`], new Map(), signal)).toEqual([`s${n}`]);
    await clock.advance(60_000);
  }
  expect(observedServers.size).toBe(5);
});
