import { expect, it } from 'vitest';
import { createFakeClock } from '../../time/fake-clock.ts';
import { FakeCloud } from '../testing/fake-cloud.ts';
import { ServersSeen } from './cloud-view.ts';

const { signal } = new AbortController();

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
