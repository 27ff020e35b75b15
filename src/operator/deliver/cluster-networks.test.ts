import { beforeEach, expect, it } from 'vitest';
import { createFakeClock } from '../../time/fake-clock.ts';
import type { ViolaEndpoint } from '../resolve/endpoints.ts';
import { ClusterNetworks } from './cluster-networks.ts';
import type { ReportedCluster } from './viola-clusters.ts';

const endpoint: ViolaEndpoint = {
  field: 'spec.viola',
  url: 'http://viola',
  trusted: true,
  compatibility: 'native',
} as never;
const services = { cidr: '10.96.0.0/12', use: 'Services', source: 'ServiceCIDR' } as const;
const cluster = (networks?: ReportedCluster['networks']): ReportedCluster => ({
  providerId: 'biz-1',
  server: '',
  reachable: true,
  checkedAt: '',
  message: '',
  ...(networks ? { networks } : {}),
});

let clock: ReturnType<typeof createFakeClock>;
let reads: number;
let answer: () => readonly ReportedCluster[];
let networks: ClusterNetworks;

beforeEach(() => {
  clock = createFakeClock();
  reads = 0;
  answer = () => [cluster([services])];
  networks = new ClusterNetworks(async () => {
    reads += 1;
    return Promise.resolve(answer());
  }, clock);
});

const read = () => networks.of(endpoint, 'biz-1');

it('ClusterNetworks reads once for concurrent and repeated calls, and again after 5 minutes', async () => {
  expect(await Promise.all([read(), read()])).toEqual([[services], [services]]);
  await read();
  expect(reads).toBe(1);
  await clock.advance(300_000);
  await read();
  expect(reads).toBe(2);
});

it('a failed read, and a cluster without networks, leave the last networks in place', async () => {
  await read();
  await clock.advance(300_000);
  answer = () => {
    throw new Error('away');
  };
  expect(await read()).toEqual([services]);
  await clock.advance(60_000);
  answer = () => [cluster()];
  expect(await read()).toEqual([services]);
  expect(reads).toBe(3);
});

it('networks are unknown without an answer, for other clusters and behind a legacy Viola', async () => {
  answer = () => [cluster()];
  expect(await read()).toBeUndefined();
  expect(await networks.of(endpoint, 'biz-2')).toBeUndefined();
  expect(await networks.of({ ...endpoint, compatibility: 'legacy' }, 'biz-1')).toBeUndefined();
});

it('a network that is no CIDR is left out', async () => {
  answer = () => [cluster([{ ...services, cidr: 'x' }, services])];
  expect(await read()).toEqual([services]);
});
