import { beforeEach, describe, expect, it } from 'vitest';
import { type Rig, setUp } from '../../rig/cloud/cloud-in-test.ts';

let rig: Rig;
let subnetId: string;
let networkId: string;

beforeEach(async () => {
  rig = await setUp();
  const { controls } = rig.running;
  const { projectId } = rig.account;
  ({ networkId } = controls.createNetwork({ projectId }));
  ({ subnetId } = controls.createSubnet({
    projectId,
    networkId,
    cidr: '10.9.0.0/24',
    name: 'nics',
  }));
});

describe('knowsNetwork', () => {
  it.each([
    ['a network', async () => rig.cloud.network(networkId, rig.signal), () => networkId],
    ['a subnet', async () => rig.cloud.subnet(subnetId, rig.signal), () => subnetId],
    [
      'a subnet by its name',
      async () => rig.cloud.subnetsByName('nics', rig.signal),
      () => subnetId,
    ],
  ])('knowsNetwork is true after reading %s', async (_what, read, id) => {
    const { cloud } = rig;
    expect(cloud.knowsNetwork([id()])).toBe(false);
    await read();
    expect(cloud.knowsNetwork(['00000000-0000-4000-8000-000000000000', id()])).toBe(true);
    expect(cloud.knowsNetwork([rig.networkId])).toBe(false);
  });
});

describe('concurrent subnet and network reads', () => {
  it('concurrent reads use one list per resource, plus one GET for an unlisted id', async () => {
    const { cloud, signal, networkId: otherNetwork } = rig;
    const { projectId } = rig.account;
    const made = { projectId, networkId, cidr: '10.8.0.0/24' };
    const { subnetId: second } = rig.running.controls.createSubnet(made);
    await cloud.portsOf([rig.serverId], signal);
    const { calls } = cloud;
    const unknown = '00000000-0000-4000-8000-000000000000';
    const subnets = [subnetId, second, unknown].map(async (id) => cloud.subnet(id, signal));
    const networks = [networkId, otherNetwork].map(async (id) => cloud.network(id, signal));
    const found = await Promise.all([...subnets, ...networks]);
    expect(found.map((one) => (one.kind === 'found' ? one.value.id : one.kind))).toEqual([
      subnetId,
      second,
      'notFound',
      networkId,
      otherNetwork,
    ]);
    expect(cloud.calls - calls).toBe(3);
  });
});

describe('isOf', () => {
  it('isOf accepts any account before the first login, and only its own account afterwards', async () => {
    const { cloud, account, serverId } = rig;
    expect(cloud.isOf(['another-user'])).toBe(true);
    await cloud.portsOf([serverId], rig.signal);
    expect(cloud.isOf(['another-user'])).toBe(false);
    for (const id of [account.projectId ?? '', 'default']) expect(cloud.isOf([id])).toBe(true);
  });
});

describe('freshen', () => {
  it.each([
    ['a network', async () => rig.cloud.network(networkId, rig.signal)],
    ['a subnet', async () => rig.cloud.subnet(subnetId, rig.signal)],
    ['subnets of a name', async () => rig.cloud.subnetsByName('nics', rig.signal)],
    ['servers', async () => rig.cloud.servers([rig.serverId], rig.signal)],
  ])('freshen drops cached reads: %s', async (_what, read) => {
    const { cloud } = rig;
    await read();
    const { calls } = cloud;
    await read();
    cloud.freshen(Number.NEGATIVE_INFINITY);
    await read();
    expect(cloud.calls).toBe(calls);
    cloud.freshen(Number.POSITIVE_INFINITY);
    await read();
    expect(cloud.calls).toBe(calls + 1);
  });
});
