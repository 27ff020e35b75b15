import { expect, test } from 'vitest';
import { type RunningCloud, startCloud } from '../../../rig/cloud/start.ts';
import { passwordAuth } from '../../../src/openstack/cloud-identity.ts';
import { createClouds } from '../../../src/openstack/clouds.ts';
import { createLogger } from '../../../src/process/log.ts';
import { createFakeClock } from '../../../src/time/fake-clock.ts';

const { signal } = new AbortController();
const log = createLogger({ part: 'test', level: 'silent' });
const servers = 1_000;
const pollMs = 30_000;
/** Longer than a token lives. */
const polls = 150;

function requestsTo({ requests }: RunningCloud): number {
  return [...requests.values()].reduce((sum, count) => sum + count, 0);
}

test('the first read of 1,000 servers costs 16 calls, each later read at most 12', async () => {
  const clock = createFakeClock();
  await using running = await startCloud({ encryptKey: 'contract-key-16b', clock });
  await using clouds = createClouds({ clock, random: () => 0.5, log });
  const { controls, contrabassUrl: endpoint, providerId, encryptKey } = running;
  const { projectId } = controls.createProject({ name: 'large' });
  const { networkId } = controls.createNetwork({ projectId });
  const { subnetId } = controls.createSubnet({ projectId, networkId, cidr: '10.0.0.0/16' });
  const ids = Array.from({ length: servers }, (_, n) => {
    return controls.createServer({ projectId, name: `w-${n}` }).serverId;
  });

  async function look(): Promise<number> {
    const before = requestsTo(running);
    const request = { endpoint, providerId, encryptKey, timeoutMs: 30_000, tls: {} };
    const provider = await clouds.provider(request, signal);
    const { keystoneUrl } = provider;
    const auth = passwordAuth({ ...provider, projectId });
    const how = { interface: 'public', tls: {}, timeoutMs: 30_000 } as const;
    const cloud = clouds.get({ keystoneUrl, auth, ...how });
    await cloud.subnet(subnetId, signal);
    await Promise.all([cloud.portsOf(ids, signal), cloud.servers(ids, signal)]);
    await cloud.network(networkId, signal);
    return requestsTo(running) - before;
  }

  expect(await look()).toBeLessThanOrEqual(16);
  const costs: number[] = [];
  for (let poll = 0; poll < polls; poll++) {
    await clock.advance(pollMs);
    costs.push(await look());
  }
  expect(Math.max(...costs)).toBeLessThanOrEqual(12);
  // Everything is read again all the same.
  expect(costs.filter((calls) => calls > 10).length).toBeGreaterThan(polls / 10);
});
