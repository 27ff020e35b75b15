import { expect, it } from 'vitest';
import type { Server } from '../../openstack/resources.ts';
import { createFakeClock } from '../../time/fake-clock.ts';
import { FakeCloud } from '../testing/fake-cloud.ts';
import { mostServersSeen, ServersSeen } from './cloud-view.ts';

const { signal } = new AbortController();

function serversOf(ids: readonly string[], projectId: string): ReadonlyMap<string, Server> {
  return new Map(
    ids.map((id) => [id, { id, name: id, status: 'ACTIVE', metadata: {}, projectId }]),
  );
}

it('a server that was missing and came back is asked for again before it is called missing', async () => {
  const cloud = new FakeCloud();
  const serversSeen = new ServersSeen(createFakeClock());
  const missing = async () =>
    serversSeen.missing(cloud, ['s1'], await cloud.servers(['s1']), signal);
  expect(await missing()).toEqual(['s1']);
  cloud.vms = [{ id: 's1', name: 'n', status: 'ACTIVE', metadata: {} }];
  expect(await missing()).toEqual([]);
  // A list that leaves it out proves nothing.
  expect(await serversSeen.missing(cloud, ['s1'], new Map(), signal)).toEqual([]);
});

it('of servers that came and went it knows the last ones, and always those that are there', async () => {
  const cloud = new FakeCloud();
  const serversSeen = new ServersSeen(createFakeClock());
  const rounds = mostServersSeen / 1_000;
  for (let round = 0; round < rounds; round++) {
    const there = ['stays', ...Array.from({ length: 1_000 }, (_, n) => `s${1_000 * round + n}`)];
    await serversSeen.missing(cloud, there, serversOf(there, cloud.projectId), signal);
  }
  expect(serversSeen.sawOwn('s0')).toBe(false);
  expect(serversSeen.sawOwn('stays')).toBe(true);
  expect(serversSeen.sawOwn(`s${mostServersSeen - 1}`)).toBe(true);
  expect(serversSeen.size).toBe(mostServersSeen);
});

it('forgets a 404 that it believes no longer', async () => {
  const cloud = new FakeCloud();
  const clock = createFakeClock();
  const serversSeen = new ServersSeen(clock);
  for (let n = 0; n < 20; n++) {
    expect(await serversSeen.missing(cloud, [`s${n}`], new Map(), signal)).toEqual([`s${n}`]);
    await clock.advance(60_000);
  }
  expect(serversSeen.size).toBe(5);
});
