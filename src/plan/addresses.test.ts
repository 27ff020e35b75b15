import { describe, expect, it } from 'vitest';
import { calculate } from './calculate.ts';
import type { Subnet } from './observation.ts';
import { entry, input, port, type Sample, subnet } from './sample.ts';

function nicsOf(sample: Sample) {
  return calculate(input(sample)).nodes[0]?.interfaces ?? [];
}

function more(id: string, cidr: string, change: Partial<Subnet>): Subnet {
  return subnet('a', { id, cidr, gatewayIp: undefined, ...change });
}

describe('interface entry', () => {
  it('an entry lists all IPv4 addresses, the selected address first', () => {
    const fixedIps = [
      { subnetId: 'sub-v6', ipAddress: 'fd00::1' },
      { subnetId: 'sub-c', ipAddress: '10.0.30.9' },
      { subnetId: 'sub-a', ipAddress: '10.0.10.1' },
    ];
    const subnets = [subnet('a'), subnet('a', { id: 'sub-c', cidr: '10.0.30.0/26' })];
    const selection = { subnetIds: ['sub-a'] };
    const ports = [port(1, 's1', { fixedIps })];
    expect(nicsOf({ selection, ports, observation: { subnets } })[0]).toMatchObject({
      address: '10.0.10.1',
      cidr: '10.0.10.0/24',
      addresses: ['10.0.10.1/24', '10.0.30.9/26'],
    });
  });

  it('an entry lists each address once when the port returns new address objects at each read', () => {
    const of = {
      ...port(1, 's1'),
      get fixedIps() {
        return [
          { subnetId: 'sub-a', ipAddress: '10.0.10.1' },
          { subnetId: 'sub-a', ipAddress: '10.0.10.2' },
        ];
      },
    };
    const [nic] = nicsOf({ selection: { subnetIds: ['sub-a'] }, ports: [of] });
    expect(nic?.addresses).toEqual(['10.0.10.1/24', '10.0.10.2/24']);
  });

  it('an entry lists gateway and routes for each further subnet, ordered by network', () => {
    const hostRoutes = [{ destination: '10.9.0.0/16', nexthop: '10.0.40.254' }];
    const [nic] = nicsOf({
      selection: { subnetIds: ['sub-a'] },
      ports: [
        port(1, 's1', {
          fixedIps: [
            { subnetId: 'sub-a', ipAddress: '10.0.10.1' },
            { subnetId: 'sub-a', ipAddress: '10.0.10.2' },
            { subnetId: 'sub-plain', ipAddress: '10.0.20.9' },
            { subnetId: 'sub-routes', ipAddress: '10.0.40.9' },
            { subnetId: 'sub-gateway', ipAddress: '10.0.30.8' },
            { subnetId: 'sub-gateway', ipAddress: '10.0.30.9' },
          ],
        }),
      ],
      observation: {
        subnets: [
          subnet('a'),
          more('sub-plain', '10.0.20.0/24', {}),
          more('sub-routes', '10.0.40.0/24', { hostRoutes }),
          more('sub-gateway', '10.0.30.0/26', { gatewayIp: '10.0.30.1' }),
        ],
      },
    });
    expect(nic).toMatchObject({ gateway: '10.0.10.1' });
    expect(nic?.subnets).toEqual([
      { cidr: '10.0.30.0/26', gateway: '10.0.30.1', routes: [] },
      { cidr: '10.0.40.0/24', routes: [{ to: '10.9.0.0/16', via: '10.0.40.254' }] },
    ]);
  });

  it('an entry waits for an unreadable further subnet', () => {
    const fixedIps = [
      { subnetId: 'sub-a', ipAddress: '10.0.10.1' },
      { subnetId: 'sub-c', ipAddress: '10.0.30.9' },
    ];
    const plan = calculate(input({ ports: [port(1, 's1', { fixedIps })] }));
    expect(plan.nodes[0]?.interfaces).toEqual([]);
    expect(plan.problems).toMatchObject([
      { reason: 'NeutronPortError', message: expect.stringContaining('subnet sub-c') as unknown },
    ]);
  });

  it('an entry contains only host routes that its own routing table can hold', () => {
    const hostRoutes = [
      { destination: '10.9.0.0/16', nexthop: '10.0.10.254' },
      { destination: '0.0.0.0/0', nexthop: '10.0.10.1' },
      { destination: 'fd00::/64', nexthop: 'fd00::1' },
      { destination: '10.8.0.0/16', nexthop: '192.168.0.1' },
    ];
    const [nic] = nicsOf({
      ports: [port(1, 's1')],
      observation: { subnets: [subnet('a', { hostRoutes, gatewayIp: undefined })] },
      selection: { subnetIds: ['sub-a'] },
    });
    expect(nic?.routes).toEqual([{ to: '10.9.0.0/16', via: '10.0.10.254' }]);
    expect(nic).not.toHaveProperty('gateway');
  });
});

describe('dual-stack entry', () => {
  const v6 = subnet('a', {
    id: 'sub-6',
    cidr: 'fd00:10::/64',
    ipVersion: 6,
    gatewayIp: 'fe80::1',
    hostRoutes: [
      { destination: 'fd00:9::/48', nexthop: 'fd00:10::fe' },
      { destination: 'fd00:8::/48', nexthop: 'fe80::2' },
      { destination: 'fd00:7::/48', nexthop: 'fd00:11::fe' },
      { destination: '::/0', nexthop: 'fd00:10::fe' },
      { destination: '10.9.0.0/16', nexthop: '10.0.10.254' },
    ],
  });
  const routes = [
    { to: 'fd00:8::/48', via: 'fe80::2' },
    { to: 'fd00:9::/48', via: 'fd00:10::fe' },
  ];
  const fixedIps = [
    { subnetId: 'sub-6', ipAddress: 'fd00:10::5' },
    { subnetId: 'sub-a', ipAddress: '10.0.10.1' },
  ];
  const sample: Sample = {
    ports: [port(1, 's1', { fixedIps })],
    observation: { subnets: [subnet('a'), v6] },
  };
  const subnetIds = ['sub-6', 'sub-a'];

  it('a dual-stack entry has IPv4 as main address and lists IPv6 with prefix, in any selector order', () => {
    const selection = { subnetIds, addressFamilies: ['IPv4', 'IPv6'] } as const;
    expect(nicsOf({ ...sample, selection })).toEqual([
      entry(1, 0, {
        addresses: ['10.0.10.1/24', 'fd00:10::5/64'],
        subnets: [{ cidr: 'fd00:10::/64', gateway: 'fe80::1', routes }],
      }),
    ]);
  });

  it('an IPv6-only entry lists its address in `addresses` and omits `address`', () => {
    const { address: _address, ...bare } = entry(1, 0, {
      cidr: 'fd00:10::/64',
      addresses: ['fd00:10::5/64'],
      gateway: 'fe80::1',
      routes,
      subnetId: 'sub-6',
    });
    const selection = { subnetIds, addressFamilies: ['IPv6'] } as const;
    expect(nicsOf({ ...sample, selection })).toEqual([bare]);
  });

  it('an entry in a subnet without prefix length has a /128 address', () => {
    const selection = { subnetIds: ['sub-6'], addressFamilies: ['IPv6'] } as const;
    const observation = { subnets: [{ ...v6, cidr: 'fd00:10::5', hostRoutes: [] }] };
    expect(nicsOf({ ...sample, observation, selection })[0]?.addresses).toEqual(['fd00:10::5/128']);
  });

  it('an entry omits IPv6 when only IPv4 is selected', () => {
    expect(nicsOf({ ...sample, selection: { subnetIds } })).toEqual([entry(1, 0)]);
    expect(nicsOf({ ...sample, selection: { subnetIds: ['sub-6'] } })).toEqual([]);
  });

  it('a port is refused when a NIC on the same node already has its IPv6 address', () => {
    const selection = { subnetIds, addressFamilies: ['IPv6'] } as const;
    const twin = port(2, 's1', { fixedIps: fixedIps.slice(0, 1) });
    const ports = [...(sample.ports ?? []), twin];
    const plan = calculate(input({ ...sample, ports, selection }));
    expect(plan.nodes[0]?.interfaces).toHaveLength(1);
    expect(plan.problems).toMatchObject([{ reason: 'InvalidPort', field: 'address' }]);
  });
});

it.each(['isolated', 'main'] as const)('an entry states its routing mode %s', (how) => {
  const ports = [port(1, 's1')];
  expect(nicsOf({ ports, selection: { routing: how } })).toEqual([entry(1, 0, { routing: how })]);
});
