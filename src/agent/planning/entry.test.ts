import { describe, expect, test } from 'vitest';
import { entry, macOf } from '../../../test/fixtures/agent-samples.ts';
import type { RequestInterface } from '../../api/job.ts';
import { entryProblem } from './entry-problem.ts';

const metadata = { to: '169.254.169.254/32', via: '10.0.0.254' };

describe('request entries', () => {
  test.each<[string, Partial<RequestInterface>]>([
    ['with gateway', {}],
    ['with two subnets', { addresses: ['10.0.0.1/24', '10.1.0.1/24'] }],
    ['with a route on the link', { routes: [{ to: '10.9.0.0/16' }] }],
    ['with the gateway repeated as a route', { routes: [{ to: '0.0.0.0/0', via: '10.0.0.254' }] }],
    [
      'with two routes to a network by different metrics',
      { routes: [{ to: '10.9.0.0/16', metric: 1 }, { to: '10.9.0.0/16' }] },
    ],
    [
      'with both families and a link-local gateway',
      { addresses: ['10.0.0.1/24', 'fd00::1/64'], gateway6: 'fe80::1' },
    ],
    ['in mode isolated, with an unused gateway', { routing: 'isolated' }],
    ['in main', { routing: 'main', routes: [{ to: '10.9.0.0/16', metric: 1 }] }],
    ['with a route to the metadata in its own table', { routes: [metadata] }],
    [
      'in link-local IPv4 without the metadata',
      { addresses: ['169.254.1.1/24'], gateway: '169.254.1.2' },
    ],
    [
      "with an IPv6 subnet's first address as gateway",
      { addresses: ['10.0.0.1/24', 'fd00::1/64'], gateway6: 'fd00::' },
    ],
    ['in a /31 subnet', { addresses: ['10.0.0.0/31'], gateway: '10.0.0.1' }],
  ])('entryProblem accepts an entry %s', (_, more) => {
    const wanted = entry(1, more);
    expect(entryProblem(wanted, [wanted, entry(2)])).toBeUndefined();
  });

  test.each<[string, Partial<RequestInterface>, string]>([
    ['a multicast MAC', { mac: '01:00:5e:00:00:01' }, 'mac 01:00:5e:00:00:01'],
    ['no MAC', { mac: '00:00:00:00:00:00' }, 'mac 00:00:00:00:00:00'],
    ["another entry's MAC", { mac: macOf(2) }, `mac ${macOf(2)} is in two entries`],
    ["another entry's index", { index: 1 }, 'index 1 is in two entries'],
    ["another entry's address", { addresses: ['10.0.0.2/16'] }, 'address 10.0.0.2/16 is in two'],
    [
      'an address twice',
      { addresses: ['10.0.0.1/24', '10.0.0.1/16'] },
      'address 10.0.0.1 is listed twice',
    ],
    ['a network for an address', { addresses: ['10.0.0.0/24'] }, 'address 10.0.0.0/24'],
    ['a broadcast for an address', { addresses: ['10.0.0.255/24'] }, 'address 10.0.0.255/24'],
    ['a loopback address', { addresses: ['127.0.0.9/8'] }, 'address 127.0.0.9/8'],
    ['a multicast address', { addresses: ['224.0.0.9/24'] }, 'address 224.0.0.9/24'],
    [
      'the whole internet as subnet',
      { addresses: ['10.0.0.1/1'] },
      'the prefix must be at least /8',
    ],
    ['a gateway outside the subnets', { gateway: '10.9.0.1' }, 'gateway 10.9.0.1 is in no subnet'],
    [
      'itself as gateway',
      { gateway: '10.0.0.1' },
      'gateway 10.0.0.1 is an address of the NIC itself',
    ],
    [
      'a broadcast as gateway',
      { gateway: '10.0.0.255' },
      'gateway 10.0.0.255 is the network or broad',
    ],
    [
      'a network as gateway',
      { gateway: '10.0.0.0' },
      'gateway 10.0.0.0 is the network or broadcast',
    ],
    [
      "a subnet's broadcast address as gateway",
      { addresses: ['10.0.0.1/24', '10.0.0.9/25'], gateway: '10.0.0.127' },
      'gateway 10.0.0.127 is the network or broadcast address of 10.0.0.0/25',
    ],
    [
      'a broadcast as next hop',
      { routes: [{ to: '10.9.0.0/16', via: '10.0.0.255' }] },
      'route to 10.9.0.0/16: via 10.0.0.255 is the network or broadcast address',
    ],
    [
      'a route to loopback',
      { routes: [{ to: '127.0.0.0/8' }] },
      'route to 127.0.0.0/8: the destination is loopback',
    ],
    [
      'a route to a multicast network',
      { routes: [{ to: '239.1.0.0/16' }] },
      'route to 239.1.0.0/16: the destination is loopback',
    ],
    [
      'a route to an IPv6 multicast network',
      { addresses: ['10.0.0.1/24', 'fd00::1/64'], routes: [{ to: 'ff05::/16' }] },
      'route to ff05::/16: the destination is loopback',
    ],
    [
      'a route in main to the metadata address',
      { routing: 'main', routes: [metadata] },
      'route to 169.254.169.254/32: the node must reach the metadata address 169.254.169.254',
    ],
    [
      'a route in main to a network containing the metadata address',
      { routing: 'main', routes: [{ to: '169.254.0.0/16', via: '10.0.0.254' }] },
      'route to 169.254.0.0/16: the node must reach the metadata address 169.254.169.254',
    ],
    [
      "the metadata address's subnet",
      { addresses: ['169.254.1.1/16'] },
      'address 169.254.1.1/16: the subnet contains the metadata address',
    ],
    [
      'a next hop outside the subnets',
      { routes: [{ to: '10.9.0.0/16', via: '10.8.0.1' }] },
      'via 10.8.0.1',
    ],
    [
      'two next hops to a network',
      {
        routes: [
          { to: '10.9.0.0/16', via: '10.0.0.2' },
          { to: '10.9.1.1/16', via: '10.0.0.3' },
        ],
      },
      'route to 10.9.1.1/16 repeats a subnet, gateway or route of the NIC',
    ],
    ['too wide an IPv6 network', { addresses: ['fd00::1/31'] }, 'the prefix must be at least /32'],
    [
      'a link-local address',
      { addresses: ['fe80::1/64'] },
      'address fe80::1/64 is not a host address',
    ],
    [
      'the IPv6 loopback address',
      { addresses: ['::1/128'] },
      'address ::1/128 is not a host address',
    ],
    [
      'an IPv6 multicast address',
      { addresses: ['ff02::1/64'] },
      'address ff02::1/64 is not a host address',
    ],
    [
      'an IPv6 gateway outside the subnets',
      { gateway6: 'fd00::1' },
      'gateway fd00::1 is in no subnet',
    ],
    [
      'a route in a family without addresses',
      { routes: [{ to: 'fd00::/64' }] },
      'route to fd00::/64: the NIC has no IPv6 address',
    ],
    [
      'a next hop in the other family',
      { addresses: ['10.0.0.1/24', 'fd00::1/64'], routes: [{ to: 'fd01::/64', via: '10.0.0.2' }] },
      'via 10.0.0.2 is not an IPv6 address',
    ],
    [
      'two next hops to an IPv6 network',
      {
        addresses: ['10.0.0.1/24', 'fd00::1/64'],
        gateway6: 'fd00::fe',
        routes: [{ to: '::/0', via: 'fe80::1' }],
      },
      'route to ::/0 repeats a subnet, gateway or route of the NIC',
    ],
    [
      'a default route in main',
      { routing: 'main', routes: [{ to: '0.0.0.0/0', via: '10.0.0.254' }] },
      'route to 0.0.0.0/0: the prefix must be at least /8 in table main',
    ],
    [
      'a /1 route in main',
      { routing: 'main', routes: [{ to: '128.0.0.0/1' }] },
      'route to 128.0.0.0/1',
    ],
    [
      'a default route different from the gateway',
      { routes: [{ to: '0.0.0.0/0', via: '10.0.0.9' }] },
      'route to 0.0.0.0/0',
    ],
  ])('entryProblem names the field for an entry with %s', (_, more, words) => {
    const wanted = entry(1, more);
    expect(entryProblem(wanted, [wanted, entry(2)])).toContain(words);
  });

  test('two entries with equal routes in main are refused; without a metric, or under policy routing, they are accepted', () => {
    const routes = [{ to: '10.9.0.1/16', metric: 7 }];
    const [a, b] = [1, 2].map((n) => entry(n, { routing: 'main', routes }));
    if (!a || !b) throw new Error('no entries');
    expect(entryProblem(a, [a, b])).toBe('route to 10.9.0.0/16 metric 7 is in two entries');
    const plain = [a, b].map((each) => ({ ...each, routes: [{ to: '10.9.0.0/16' }] }));
    expect(plain.map((each) => entryProblem(each, plain))).toEqual([undefined, undefined]);
    const apart = { ...b, routes: [{ to: '10.9.0.0/16' }] };
    expect(entryProblem(a, [a, apart])).toBeUndefined();
    const tables = [a, b].map((each) => ({ ...each, routing: 'pbr' as const }));
    expect(tables.map((each) => entryProblem(each, tables))).toEqual([undefined, undefined]);
  });
});
