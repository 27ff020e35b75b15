import { describe, expect, it } from 'vitest';
import { acceptInterfaces, ofPlans } from './accept-interface.ts';
import type { InterfaceSpec } from './multinicnodeconfig.ts';

const entry: InterfaceSpec = {
  id: 0,
  name: 'multinic0',
  portId: 'p0',
  macAddress: 'FA:16:3E:00:00:01',
  address: '10.0.0.10',
  cidr: '10.0.0.0/24',
  mtu: 1450,
};

function rejectionOf(...entries: InterfaceSpec[]) {
  return acceptInterfaces(entries).rejected;
}

describe('acceptInterfaces', () => {
  it('gives the address the prefix of the subnet and the MAC lower case', () => {
    expect(acceptInterfaces([entry]).accepted).toEqual([
      {
        position: 0,
        nic: {
          index: 0,
          portId: 'p0',
          mac: 'fa:16:3e:00:00:01',
          mtu: 1450,
          addresses: ['10.0.0.10/24'],
          routes: [],
          routing: 'pbr',
        },
      },
    ]);
  });

  it('sends agents nothing of further subnets, so that these change nothing on a node', () => {
    const subnets = [{ cidr: '10.1.0.0/24', gateway: '10.1.0.1', routes: [] }];
    const two = { ...entry, addresses: ['10.0.0.10/24', '10.1.0.10/24'] };
    const { accepted, rejected } = acceptInterfaces([{ ...two, subnets }]);
    expect(rejected).toEqual([]);
    expect(accepted).toEqual(acceptInterfaces([two]).accepted);
  });

  it('accepts the host form of cidr and a missing id, name and mtu', () => {
    const { id, name, mtu, ...bare } = entry;
    const [only] = acceptInterfaces([{ ...bare, cidr: '10.0.0.10/24' }]).accepted;
    expect(only?.nic).toMatchObject({ index: 0, addresses: ['10.0.0.10/24'] });
    expect(only?.nic).not.toHaveProperty('mtu');
    expect([id, name, mtu]).toEqual([0, 'multinic0', 1450]);
  });

  it('takes the index of the name when the id is missing', () => {
    const { id: _id, ...named } = entry;
    const [only] = acceptInterfaces([{ ...named, name: 'multinic7' }]).accepted;
    expect(only?.nic.index).toBe(7);
  });

  it('lets the name win over a contradicting id, as the deployed system does', () => {
    const [only] = acceptInterfaces([{ ...entry, id: 3, name: 'multinic7' }]).accepted;
    expect(only?.nic.index).toBe(7);
  });

  it.each([
    ['address', { address: '10.0.1.10' }, '10.0.1.10 is not in cidr 10.0.0.0/24'],
    ['address', { address: '010.0.0.1' }, '"010.0.0.1" is not an IPv4 address'],
    ['cidr', { cidr: '10.0.0.0' }, '"10.0.0.0" is not an IPv4 network such as 10.0.0.0/24'],
    ['cidr', { cidr: '10.0.0.0/0' }, '"10.0.0.0/0" is not an IPv4 network such as 10.0.0.0/24'],
    ['name', { name: 'multinic10' }, 'multinic10 is not one of multinic0 to multinic9'],
    ['name', { name: 'xmultinic1' }, 'xmultinic1 is not one of multinic0 to multinic9'],
    ['name', { name: 'multinic1x' }, 'multinic1x is not one of multinic0 to multinic9'],
    ['name', { name: 'multinic12' }, 'multinic12 is not one of multinic0 to multinic9'],
    ['id', { id: 12, name: undefined }, '12 is not one of multinic0 to multinic9'],
    ['routing', { routing: 'main' as const }, 'main is not supported yet; use pbr'],
    ['addresses', { addresses: ['fd00::1/64'] }, '"fd00::1/64" is not an IPv4 network'],
    ['gateway', { gateway: '10.0.0.1/24' }, '"10.0.0.1/24" is not an IPv4 address'],
    ['subnets[0].cidr', { subnets: [{ cidr: '10.0.0.0' }] }, '"10.0.0.0" is not an IPv4 network'],
    [
      'subnets[1].cidr',
      { subnets: [{ cidr: '10.0.0.0/25' }, { cidr: '10.1.0.0/24' }] },
      '10.1.0.0/24 holds none of the addresses',
    ],
    [
      'subnets[0].gateway',
      { subnets: [{ cidr: '10.0.0.0/24', gateway: 'fd00::1' }] },
      '"fd00::1" is not an IPv4 address',
    ],
    [
      'subnets[0].routes[0].to',
      { subnets: [{ cidr: '10.0.0.0/24', routes: [{ to: 'default' }] }] },
      '"default" is not an IPv4 network',
    ],
  ])('refuses an entry with an unusable %s', (field, change, message) => {
    const [only] = rejectionOf({ ...entry, ...change });
    expect(only?.field).toBe(field);
    expect(only?.message).toContain(message);
  });

  it.each([
    ['name', { portId: 'p1', macAddress: 'fa:16:3e:00:00:02', address: '10.0.0.11' }],
    ['macAddress', { id: 1, name: 'multinic1', portId: 'p1', address: '10.0.0.11' }],
    ['portId', { id: 1, name: 'multinic1', macAddress: 'fa:16:3e:00:00:02', address: '10.0.0.11' }],
    ['address', { id: 1, name: 'multinic1', macAddress: 'fa:16:3e:00:00:02', portId: 'p1' }],
  ])('refuses both entries that claim the same %s, and only those', (field, change) => {
    const third = {
      ...entry,
      id: 5,
      name: 'multinic5',
      portId: 'p5',
      macAddress: 'fa:16:3e:00:00:05',
      address: '10.0.0.55',
    };
    const { accepted, rejected } = acceptInterfaces([entry, { ...entry, ...change }, third]);
    expect(rejected.map((one) => [one.position, one.field])).toEqual([
      [0, field],
      [1, field],
    ]);
    expect(accepted.map((one) => one.position)).toEqual([2]);
  });
});

describe('acceptInterfaces for a plan', () => {
  const v6 = { name: 'multinic3', macAddress: 'fa:16:3e:00:00:03' };

  it('takes IPv6 and every routing, which agents do not have yet', () => {
    const wide: InterfaceSpec = {
      ...v6,
      addresses: ['fd00::0:1/64', '10.0.0.9/24'],
      gateway: 'fe80::1',
      routes: [{ to: 'fd00:9::/48', via: 'fd00::fe' }],
      subnets: [{ cidr: '10.0.0.0/24', gateway: '10.0.0.1' }],
      routing: 'main',
    };
    const { accepted, rejected } = acceptInterfaces([wide], ofPlans);
    expect(rejected).toEqual([]);
    expect(accepted[0]?.nic.addresses).toEqual(['fd00::1/64', '10.0.0.9/24']);
    expect(rejectionOf(wide)).toMatchObject([{ field: 'routing' }]);
    expect(rejectionOf({ ...wide, routing: 'pbr' })).toMatchObject([{ field: 'addresses' }]);
  });

  it.each(['fe80::x', '10.0.0', 'fe80::1/64'])('refuses %s as a gateway', (gateway) => {
    const { rejected } = acceptInterfaces([{ ...v6, addresses: ['fd00::1/64'], gateway }], ofPlans);
    expect(rejected).toMatchObject([{ field: 'gateway' }]);
  });

  it.each(['fd00::1', 'fd00::1/0', 'fd00::1/129', 'fd00::x/64', 'fe80::1%eth0/64'])(
    'refuses %s as an address with its prefix',
    (text) => {
      const { rejected } = acceptInterfaces([{ ...v6, addresses: [text] }], ofPlans);
      expect(rejected).toMatchObject([{ field: 'addresses' }]);
    },
  );
});
