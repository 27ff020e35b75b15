import { describe, expect, it } from 'vitest';
import { address, entry, host, link, macOf, route } from '../../../test/fixtures/agent-samples.ts';
import type { RequestInterface } from '../../api/job.ts';
import type { Snapshot } from '../snapshot.ts';
import { nicLookups, nodeLookups, type PathNic } from './lookups.ts';

const up = { name: 'multinic0', up: true };

/** Returns lookups as `FROM TO` for one NIC with these addresses on the link. */
function lookupsFor(
  more: Partial<RequestInterface>,
  on: Partial<Snapshot> = {},
  state: Partial<PathNic['link']> = {},
): string[] {
  const asked = entry(1, more);
  const nic = link(1, { ...up, ...state });
  const addresses = asked.addresses.map((cidr) => address('multinic0', cidr));
  const kernel = host([nic], { addresses, ...on });
  const lookups = nicLookups([{ entry: asked, link: nic, table: 100 }], kernel);
  return lookups.map(({ from, to }) => `${from} ${to}`);
}

describe('lookups from NIC addresses', () => {
  it.each<[string, Partial<RequestInterface>, string[]]>([
    [
      'gateway and an outside address with a default route',
      {},
      ['10.0.0.1 10.0.0.254', '10.0.0.1 198.51.100.1'],
    ],
    [
      'a neighbour in the subnet without a gateway',
      { gateway: undefined },
      ['10.0.0.1 10.0.0.254'],
    ],
    [
      'both families',
      { addresses: ['10.0.0.1/24', 'fd00::5/64'], gateway6: 'FD00:0::1' },
      ['10.0.0.1 10.0.0.254', '10.0.0.1 198.51.100.1', 'fd00::5 fd00::1', 'fd00::5 2001:db8::1'],
    ],
    [
      'one destination per host route',
      { routes: [{ to: '172.16.0.0/12', via: '10.0.0.9' }, { to: '192.168.7.7/32' }] },
      [
        '10.0.0.1 10.0.0.254',
        '10.0.0.1 172.16.0.1',
        '10.0.0.1 192.168.7.7',
        '10.0.0.1 198.51.100.1',
      ],
    ],
    [
      'no outside address with routing main',
      { routing: 'main', routes: [{ to: '172.16.0.0/12' }] },
      ['10.0.0.1 10.0.0.254', '10.0.0.1 172.16.0.1'],
    ],
    [
      'no routes with routing isolated',
      { routing: 'isolated', routes: [{ to: '172.16.0.0/12' }] },
      ['10.0.0.1 10.0.0.254'],
    ],
    [
      'an outside address with a default route in routes',
      { gateway: undefined, routes: [{ to: '0.0.0.0/0', via: '10.0.0.9' }] },
      ['10.0.0.1 10.0.0.254', '10.0.0.1 198.51.100.1'],
    ],
  ])('have %s', (_, more, lookups) => {
    expect(lookupsFor(more)).toEqual(lookups);
  });

  it('skip outside addresses with a specific route', () => {
    const routes = [
      route('198.51.100.0/24', 'eth0'),
      route('203.0.113.0/25', 'eth0', { table: 7 }),
    ];
    expect(lookupsFor({}, { routes })).toContain('10.0.0.1 192.0.2.1');
    const all = [...routes, route('128.0.0.0/1', 'tun0')];
    expect(lookupsFor({}, { routes: all })).toEqual(['10.0.0.1 10.0.0.254']);
  });

  it('avoid destinations with a more specific route', () => {
    const routes = [route('172.16.0.0/16', 'cni0')];
    const wide = { routes: [{ to: '172.16.0.0/12' }] };
    expect(lookupsFor(wide, { routes })).toContain('10.0.0.1 172.31.255.254');
    const both = [...routes, route('172.31.255.0/24', 'cni0')];
    expect(lookupsFor(wide, { routes: both })).not.toContain('10.0.0.1 172.31.255.254');
  });

  it.each([
    ['is down', { up: false }, {}],
    ['has no carrier', { noCarrier: true as const }, {}],
    ['has no such address', {}, { addresses: [] }],
    [
      'still probes the address',
      {},
      { addresses: [address('multinic0', '10.0.0.1/24', { probe: 'going on' as const })] },
    ],
  ])('are absent when the link %s', (_, state, on) => {
    expect(lookupsFor({}, on, state)).toEqual([]);
  });

  it('number at most 2,000', () => {
    const routes = Array.from({ length: 64 }, (_, at) => ({ to: `172.16.${at}.0/24` }));
    const addresses = Array.from({ length: 32 }, (_, at) => `10.0.0.${at + 1}/24`);
    expect(lookupsFor({ routes, addresses })).toHaveLength(2_000);
  });
});

describe('lookups for the node', () => {
  const apiServer = {
    service: { address: '10.96.0.1', port: 443 },
    endpoints: ['10.200.0.2', '10.200.0.3', '10.200.0.4', '10.200.0.5', '10.200.0.6'].map((ip) => ({
      address: ip,
      port: 6443,
    })),
  };

  it('have the Service address, three endpoints on foreign nodes and the default gateway', () => {
    expect(nodeLookups(apiServer, host([link(1)]), [])).toEqual([
      { to: '10.96.0.1', purpose: 'service' },
      { to: '10.200.0.3', purpose: 'endpoint' },
      { to: '10.200.0.4', purpose: 'endpoint' },
      { to: '10.200.0.5', purpose: 'endpoint' },
      { to: '10.200.0.254', purpose: 'default gateway' },
    ]);
  });

  it('have the best default gateway, without routes by NICs and link-local gateways', () => {
    const routes = [
      route('0.0.0.0/0', 'multinic0', { via: '10.0.0.254' }),
      route('::/0', 'eth0', { via: 'fe80::1', metric: 1 }),
    ];
    const nic = link(1, up);
    expect(nodeLookups(undefined, host([nic], { routes }), [nic])).toEqual([
      { to: '10.200.0.254', purpose: 'default gateway' },
    ]);
    expect(macOf(1)).toBe(nic.mac);
  });
});
