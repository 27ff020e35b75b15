import { describe, expect, it } from 'vitest';
import { calculate } from './calculate.ts';
import type { Subnet } from './observation.ts';
import { input, port, type Sample, subnet } from './sample.ts';

function nicsOf(sample: Sample) {
  return calculate(input(sample)).nodes[0]?.interfaces ?? [];
}

function more(id: string, cidr: string, change: Partial<Subnet>): Subnet {
  return subnet('a', { id, cidr, gatewayIp: undefined, ...change });
}

describe('the entry of a port', () => {
  it('has all its IPv4 addresses, the selected one first', () => {
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

  it('says gateway and routes of each further subnet that has any, in the order of their networks', () => {
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

  it('waits for a further subnet that could not be read', () => {
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

  it('brings the host routes of its subnet that its table can hold', () => {
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
