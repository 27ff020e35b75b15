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

describe('whether a network is known', () => {
  it.each([
    ['a network', async () => rig.cloud.network(networkId, rig.signal), () => networkId],
    ['a subnet', async () => rig.cloud.subnet(subnetId, rig.signal), () => subnetId],
    [
      'a subnet by its name',
      async () => rig.cloud.subnetsByName('nics', rig.signal),
      () => subnetId,
    ],
  ])('is told of %s that was read', async (_what, read, id) => {
    const { cloud } = rig;
    expect(cloud.knowsNetwork([id()])).toBe(false);
    await read();
    expect(cloud.knowsNetwork(['00000000-0000-4000-8000-000000000000', id()])).toBe(true);
    expect(cloud.knowsNetwork([rig.networkId])).toBe(false);
  });
});

describe('subnets and networks that are read together', () => {
  it('take one call each, and one more for an id that is not listed', async () => {
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

describe('whether an account is the one that it is asked as', () => {
  it('nobody knows before the login, and everybody after it', async () => {
    const { cloud, account, serverId } = rig;
    expect(cloud.isOf(['somebody'])).toBe(true);
    await cloud.portsOf([serverId], rig.signal);
    expect(cloud.isOf(['somebody'])).toBe(false);
    for (const id of [account.projectId ?? '', 'default']) expect(cloud.isOf([id])).toBe(true);
  });
});

describe('what was read before something happened', () => {
  it.each([
    ['a network', async () => rig.cloud.network(networkId, rig.signal)],
    ['a subnet', async () => rig.cloud.subnet(subnetId, rig.signal)],
    ['subnets of a name', async () => rig.cloud.subnetsByName('nics', rig.signal)],
    ['servers', async () => rig.cloud.servers([rig.serverId], rig.signal)],
  ])('is read again: %s', async (_what, read) => {
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
