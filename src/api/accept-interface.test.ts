import { describe, expect, it } from 'vitest';
import { acceptInterfaces } from './accept-interface.ts';
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
  it("an accepted NIC has the subnet's prefix in its address and a lower-case MAC", () => {
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

  it('an accepted NIC includes gateways for missing families and further routes from its further subnets', () => {
    const { accepted, rejected } = acceptInterfaces([
      {
        ...entry,
        addresses: ['10.0.0.10/24', '10.1.0.10/24', 'fd00:0::a/64'],
        routes: [{ to: '10.9.0.0/16', via: '10.0.0.2' }],
        subnets: [
          {
            cidr: '10.1.0.0/24',
            gateway: '10.1.0.1',
            routes: [
              { to: '10.9.0.0/16', via: '10.1.0.2' },
              { to: '10.8.0.7/16', via: '10.1.0.2' },
            ],
          },
          { cidr: 'fd00::/64', gateway: 'FE80::1' },
        ],
      },
    ]);
    expect(rejected).toEqual([]);
    expect(accepted[0]?.nic).toMatchObject({
      gateway: '10.1.0.1',
      gateway6: 'fe80::1',
      addresses: ['10.0.0.10/24', '10.1.0.10/24', 'fd00::a/64'],
      routes: [
        { to: '10.9.0.0/16', via: '10.0.0.2' },
        { to: '10.8.0.0/16', via: '10.1.0.2' },
      ],
    });
  });

  it("routes between a NIC's own subnets are dropped, while a route to its main subnet stays for the agent to refuse", () => {
    const { accepted } = acceptInterfaces([
      {
        ...entry,
        addresses: ['10.0.0.10/24', '10.1.0.10/24'],
        routes: [
          { to: '10.1.0.0/24', via: '10.0.0.1' },
          { to: '10.0.0.0/24', via: '10.0.0.9' },
        ],
        subnets: [{ cidr: '10.1.0.0/24', routes: [{ to: '10.0.0.0/24', via: '10.1.0.1' }] }],
      },
    ]);
    expect(accepted[0]?.nic.routes).toEqual([{ to: '10.0.0.0/24', via: '10.0.0.9' }]);
  });

  it('routes with equal destination and different metrics are accepted, and more than 64 routes are refused', () => {
    const routes = [
      { to: '10.9.0.0/16', via: '10.0.0.2', metric: 1 },
      { to: '10.9.0.0/16', via: '10.0.0.3', metric: 2 },
    ];
    const subnets = [{ cidr: '10.0.0.0/24', routes: [...routes] }];
    expect(acceptInterfaces([{ ...entry, routes, subnets }]).accepted[0]?.nic.routes).toEqual(
      routes,
    );
    const many = Array.from({ length: 64 }, (_, n) => ({ to: `10.9.${n}.0/24`, via: '10.0.0.2' }));
    expect(acceptInterfaces([{ ...entry, routes: many, subnets: [] }]).rejected).toEqual([]);
    const [only] = rejectionOf({ ...entry, routes: many, subnets });
    expect(only?.message).toBe(
      '66 routes with those of the main subnet; a NIC may have at most 64, remove some',
    );
  });

  it('an entry with host-form cidr and without id, name and mtu is accepted', () => {
    const { id, name, mtu, ...bare } = entry;
    const [only] = acceptInterfaces([{ ...bare, cidr: '10.0.0.10/24' }]).accepted;
    expect(only?.nic).toMatchObject({ index: 0, addresses: ['10.0.0.10/24'] });
    expect(only?.nic).not.toHaveProperty('mtu');
    expect([id, name, mtu]).toEqual([0, 'multinic0', 1450]);
  });

  it('[RW-87] an entry without id gets the index in its name', () => {
    const { id: _id, ...named } = entry;
    const [only] = acceptInterfaces([{ ...named, name: 'multinic7' }]).accepted;
    expect(only?.nic.index).toBe(7);
  });

  it("an entry's name wins over a contradicting id, as in the legacy system", () => {
    const [only] = acceptInterfaces([{ ...entry, id: 3, name: 'multinic7' }]).accepted;
    expect(only?.nic.index).toBe(7);
  });

  it.each([
    ['address', { address: '10.0.1.10' }, '10.0.1.10 is not in cidr 10.0.0.0/24'],
    ['address', { address: '010.0.0.1' }, '"010.0.0.1" is not an IPv4 address'],
    ['cidr', { cidr: '10.0.0.0' }, '"10.0.0.0" is not a network such as 10.0.0.0/24'],
    ['cidr', { cidr: '10.0.0.0/0' }, '"10.0.0.0/0" is not a network such as 10.0.0.0/24'],
    ['cidr', { cidr: '10.0.0.0/024' }, '"10.0.0.0/024" is not a network such as 10.0.0.0/24'],
    ['addresses', { addresses: ['10.0.0.10/08'] }, '"10.0.0.10/08" is not a network'],
    ['addresses', { addresses: ['fd00::a/064'] }, '"fd00::a/064" is not a network'],
    ['name', { name: 'multinic10' }, '"multinic10" is not a name from multinic0 to multinic9'],
    ['name', { name: 'xmultinic1' }, '"xmultinic1" is not a name from multinic0 to multinic9'],
    ['name', { name: 'multinic1x' }, '"multinic1x" is not a name from multinic0 to multinic9'],
    ['name', { name: 'multinic12' }, '"multinic12" is not a name from multinic0 to multinic9'],
    ['id', { id: 12, name: undefined }, '12 is not an index from 0 to 9'],
    ['gateway', { gateway: '10.0.0.1/24' }, '"10.0.0.1/24" is not an IPv4 or IPv6 address'],
    ['subnets[0].cidr', { subnets: [{ cidr: '10.0.0.0' }] }, '"10.0.0.0" is not a network'],
    [
      'subnets[1].cidr',
      { subnets: [{ cidr: '10.0.0.0/25' }, { cidr: '10.1.0.0/24' }] },
      '10.1.0.0/24 contains no address of the NIC',
    ],
    [
      'subnets[0].gateway',
      { subnets: [{ cidr: '10.0.0.0/24', gateway: 'fd00::1' }] },
      'fd00::1 is not in the address family of 10.0.0.0/24',
    ],
    [
      'subnets[0].routes[0].to',
      { subnets: [{ cidr: '10.0.0.0/24', routes: [{ to: 'default' }] }] },
      '"default" is not a network',
    ],
  ])('an entry with an unusable %s is refused', (field, change, message) => {
    const [only] = rejectionOf({ ...entry, ...change });
    expect(only?.field).toBe(field);
    expect(only?.message).toContain(message);
  });

  it.each([
    ['name', { portId: 'p1', macAddress: 'fa:16:3e:00:00:02', address: '10.0.0.11' }],
    ['macAddress', { id: 1, name: 'multinic1', portId: 'p1', address: '10.0.0.11' }],
    ['portId', { id: 1, name: 'multinic1', macAddress: 'fa:16:3e:00:00:02', address: '10.0.0.11' }],
    ['address', { id: 1, name: 'multinic1', macAddress: 'fa:16:3e:00:00:02', portId: 'p1' }],
  ])(
    'two entries with the same %s are both refused, and other entries are accepted',
    (field, change) => {
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
    },
  );
});

describe('acceptInterfaces with IPv6', () => {
  const v6 = { name: 'multinic3', macAddress: 'fa:16:3e:00:00:03' };

  it.each(['pbr', 'main', 'isolated'] as const)(
    'a dual-stack entry with routing %s is accepted',
    (routing) => {
      const wide: InterfaceSpec = {
        ...v6,
        addresses: ['fd00::0:1/64', '10.0.0.9/24'],
        gateway: 'fe80::1',
        routes: [{ to: 'fd00:9::/48', via: 'fd00::fe' }],
        subnets: [{ cidr: '10.0.0.0/24', gateway: '10.0.0.1' }],
        routing,
      };
      const { accepted, rejected } = acceptInterfaces([wide]);
      expect(rejected).toEqual([]);
      expect(accepted[0]?.nic).toEqual({
        index: 3,
        mac: v6.macAddress,
        addresses: ['fd00::1/64', '10.0.0.9/24'],
        gateway: '10.0.0.1',
        gateway6: 'fe80::1',
        routes: [{ to: 'fd00:9::/48', via: 'fd00::fe' }],
        routing,
      });
    },
  );

  it('two spellings of one address count as duplicates', () => {
    const other = { name: 'multinic4', macAddress: 'fa:16:3e:00:00:04' };
    const rejected = rejectionOf(
      { ...v6, addresses: ['fd00::1/64'] },
      { ...other, addresses: ['FD00:0::1/64'] },
    );
    expect(rejected.map(({ field }) => field)).toEqual(['address', 'address']);
  });

  it.each(['fe80::x', '10.0.0', 'fe80::1/64'])('gateway %s is refused', (gateway) => {
    const { rejected } = acceptInterfaces([{ ...v6, addresses: ['fd00::1/64'], gateway }]);
    expect(rejected).toMatchObject([{ field: 'gateway' }]);
  });

  it.each(['fd00::1', 'fd00::1/0', 'fd00::1/129', 'fd00::x/64', 'fe80::1%eth0/64'])(
    'address %s is refused',
    (text) => {
      const { rejected } = acceptInterfaces([{ ...v6, addresses: [text] }]);
      expect(rejected).toMatchObject([{ field: 'addresses' }]);
    },
  );
});
