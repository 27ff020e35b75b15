import { beforeEach, expect, it } from 'vitest';
import { createFakeClock } from '../../../time/fake-clock.ts';
import type { ViolaEndpoint } from '../../model/resolve/endpoints.ts';
import type { ReportedCluster } from './viola-clusters.ts';
import { ViolaFacts } from './viola-facts.ts';

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
/** URLs of all reads. */
let reads: string[];
let answer: () => readonly ReportedCluster[] | Promise<readonly ReportedCluster[]>;
let networks: ViolaFacts;

beforeEach(() => {
  clock = createFakeClock();
  reads = [];
  answer = () => [cluster([services])];
  networks = new ViolaFacts(async ({ url }) => {
    reads.push(url);
    return { clusters: await answer(), storesIdentity: true };
  }, clock);
});

const read = async () => (await networks.of(endpoint, 'biz-1')).clusterNetworks;

/** Waits for a background read. */
const settled = async () => {
  for (let turn = 0; turn < 10; turn++) await Promise.resolve();
};

it('ViolaFacts reads once for concurrent and repeated calls, and again after 5 minutes', async () => {
  expect(await Promise.all([read(), read()])).toEqual([[services], [services]]);
  await read();
  expect(reads).toHaveLength(1);
  await clock.advance(300_000);
  await Promise.all([read(), read()]);
  expect(reads).toHaveLength(2);
});

it('ViolaFacts waits up to 20 s for the first reading', async () => {
  const { promise, resolve } = Promise.withResolvers<readonly ReportedCluster[]>();
  answer = async () => promise;
  const first = read();
  await clock.advance(19_000);
  resolve([cluster([services])]);
  expect(await first).toEqual([services]);
  answer = async () => new Promise(() => undefined);
  const other = networks.of({ ...endpoint, url: 'http://other' }, 'biz-1');
  await clock.advance(20_000);
  expect(await other).toEqual({ storesIdentity: false, sameClusterIds: [] });
});

it('ViolaFacts returns the last networks at once while a new reading is under way', async () => {
  await read();
  await clock.advance(300_000);
  const { promise, resolve } = Promise.withResolvers<readonly ReportedCluster[]>();
  answer = async () => promise;
  expect(await read()).toEqual([services]);
  const pods = { cidr: '10.244.0.0/16', use: 'Pods', source: 'kubeadm-config' } as const;
  resolve([cluster([services, pods])]);
  await settled();
  expect(await read()).toEqual([services, pods]);
  expect(reads).toHaveLength(2);
});

it('a failed read, and a cluster without networks, leave the last networks in place', async () => {
  await read();
  await clock.advance(300_000);
  answer = () => {
    throw new Error('away');
  };
  await read();
  await settled();
  expect(await read()).toEqual([services]);
  await clock.advance(60_000);
  answer = () => [cluster()];
  await read();
  await settled();
  expect(await read()).toEqual([services]);
  expect(reads).toHaveLength(3);
});

it('ViolaFacts forgets a Viola after 2 hours without a caller', async () => {
  await read();
  await clock.advance(2 * 3_600_000 + 1);
  await networks.of({ ...endpoint, url: 'http://other' }, 'biz-1');
  answer = () => [cluster()];
  expect(await read()).toBeUndefined();
  expect(reads).toEqual(['http://viola', 'http://other', 'http://viola']);
});

it('networks are unknown without an answer, for other clusters and behind a legacy Viola', async () => {
  answer = () => [cluster()];
  expect(await read()).toBeUndefined();
  expect(await networks.of(endpoint, 'biz-2')).toEqual({
    storesIdentity: true,
    sameClusterIds: [],
  });
  const legacy = { ...endpoint, compatibility: 'legacy' } as const;
  expect(await networks.of(legacy, 'biz-1')).toEqual({ storesIdentity: false, sameClusterIds: [] });
});

const supports = (features?: string[]) => () => [
  { ...cluster(), ...(features ? { supports: features } : {}) },
];
const features = async (id = 'biz-1') => networks.featuresOf(endpoint, id);

it('featuresOf waits for a reading within its lifetime, and throws its failure', async () => {
  answer = supports();
  expect([await features(), await features('biz-2')]).toEqual([[], undefined]);
  answer = supports(['observe']);
  await clock.advance(59_000);
  expect(await features()).toEqual([]);
  await clock.advance(1_000);
  expect(await features()).toEqual(['observe']);
  await clock.advance(299_000);
  expect(await features()).toEqual(['observe']);
  answer = () => {
    throw new Error('away');
  };
  await clock.advance(1_000);
  await expect(features()).rejects.toThrow('away');
  answer = supports(['observe']);
  await clock.advance(60_000);
  expect(await features()).toEqual(['observe']);
  expect(reads).toHaveLength(4);
});

it('ViolaFacts leaves out a network with an invalid CIDR', async () => {
  answer = () => [cluster([{ ...services, cidr: 'x' }, services])];
  expect(await read()).toEqual([services]);
});

const identified = (providerId: string, uid: string | undefined, server = providerId) => ({
  ...cluster(),
  providerId,
  server,
  ...(uid === undefined ? {} : { uid }),
});

it.each<[string, (readonly ReportedCluster[])[], readonly string[], readonly string[]]>([
  ['equal uids', [[identified('biz-1', 'a'), identified('biz-2', 'a')]], [], ['biz-2']],
  ['different uids', [[identified('biz-1', 'a'), identified('biz-2', 'b')]], ['biz-2'], []],
  ['unknown uids', [[identified('biz-1', undefined), identified('biz-2', undefined)]], [], []],
  [
    'a shared object and a single unknown uid',
    [[identified('biz-1', 'a'), identified('biz-2', undefined)]],
    ['biz-2'],
    ['biz-2'],
  ],
  ['a shared object with an id without registration', [[identified('biz-1', 'a')]], ['biz-2'], []],
  [
    'equal uids, then no answer',
    [
      [identified('biz-1', 'a'), identified('biz-2', 'a')],
      [identified('biz-1', 'a'), identified('biz-2', undefined)],
    ],
    [],
    ['biz-2'],
  ],
  [
    'equal uids, then no answer by a different server',
    [
      [identified('biz-1', 'a'), identified('biz-2', 'a')],
      [identified('biz-1', 'a'), identified('biz-2', undefined, 'elsewhere')],
    ],
    [],
    [],
  ],
])('ViolaFacts with %s', async (_, answers, shared, same) => {
  for (const items of answers) {
    answer = () => items;
    await networks.of(endpoint, 'biz-1');
    await settled();
    await clock.advance(300_000);
  }
  networks.noteSameCluster(endpoint, 'biz-1', shared);
  expect((await networks.of(endpoint, 'biz-1')).sameClusterIds).toEqual(same);
  if (shared.length > 0 && same.length > 0) {
    expect((await networks.of(endpoint, 'biz-2')).sameClusterIds).toEqual(['biz-1']);
  }
});

it.each([
  ['has the feature', ['observe', 'adopt'], true],
  ['lacks the feature', ['observe'], false],
  ['has no features', undefined, false],
])('ViolaFacts returns supportsAdoption if the cluster list %s', async (_, listed, supported) => {
  answer = supports(listed);
  const { supportsAdoption } = await networks.of({ ...endpoint, adopts: true }, 'biz-1');
  expect(supportsAdoption).toBe(supported);
  expect(await networks.of(endpoint, 'biz-1')).not.toHaveProperty('supportsAdoption');
});

const away = () => {
  throw new Error('away');
};

it('supportsAdoption is unknown without an answer, stays after a failed read, and is read again soon if false', async () => {
  const adopting = { ...endpoint, adopts: true };
  const known = async () => (await networks.of(adopting, 'biz-1')).supportsAdoption;
  answer = away;
  expect(await known()).toBeUndefined();
  answer = supports(['observe']);
  await clock.advance(60_000);
  await known();
  await settled();
  expect(await known()).toBe(false);
  answer = supports(['adopt']);
  await clock.advance(60_000);
  await known();
  await settled();
  expect(await known()).toBe(true);
  answer = away;
  await clock.advance(300_000);
  await known();
  await settled();
  expect(await known()).toBe(true);
});
