import { describe, expect, test } from 'vitest';
import { entry, macOf } from '../../../test/fixtures/agent-samples.ts';
import type { RequestInterface } from '../../api/job.ts';
import { entryProblem } from './candidates.ts';

const metadata = { to: '169.254.169.254/32', via: '10.0.0.254' };

describe('entries of a request', () => {
  test.each<[string, Partial<RequestInterface>]>([
    ['with gateway', {}],
    ['with two subnets', { addresses: ['10.0.0.1/24', '10.1.0.1/24'] }],
    ['with a route on the link', { routes: [{ to: '10.9.0.0/16' }] }],
    ['with the gateway as a route once more', { routes: [{ to: '0.0.0.0/0', via: '10.0.0.254' }] }],
    [
      'with two ways of another metric',
      { routes: [{ to: '10.9.0.0/16', metric: 1 }, { to: '10.9.0.0/16' }] },
    ],
    [
      'of both families, with a link-local next hop',
      { addresses: ['10.0.0.1/24', 'fd00::1/64'], gateway6: 'fe80::1' },
    ],
    ['that is isolated, with a default route that it does not get', { routing: 'isolated' }],
    ['in main', { routing: 'main', routes: [{ to: '10.9.0.0/16', metric: 1 }] }],
    ['with a route to the metadata in its own table', { routes: [metadata] }],
    [
      'in link-local IPv4 without the metadata',
      { addresses: ['169.254.1.1/24'], gateway: '169.254.1.2' },
    ],
    [
      'with the lowest address of a subnet of IPv6 as gateway',
      { addresses: ['10.0.0.1/24', 'fd00::1/64'], gateway6: 'fd00::' },
    ],
    ['in a subnet of two addresses', { addresses: ['10.0.0.0/31'], gateway: '10.0.0.1' }],
  ])('%s can be used', (_, more) => {
    const wanted = entry(1, more);
    expect(entryProblem(wanted, [wanted, entry(2)])).toBeUndefined();
  });

  test.each<[string, Partial<RequestInterface>, string]>([
    ['a MAC of a group', { mac: '01:00:5e:00:00:01' }, 'mac 01:00:5e:00:00:01'],
    ['no MAC', { mac: '00:00:00:00:00:00' }, 'mac 00:00:00:00:00:00'],
    ['a MAC of another entry', { mac: macOf(2) }, `mac ${macOf(2)} is in two entries`],
    ['an index of another entry', { index: 1 }, 'index 1 is in two entries'],
    [
      'an address of another entry',
      { addresses: ['10.0.0.2/16'] },
      'address 10.0.0.2/16 is in two',
    ],
    ['an address twice', { addresses: ['10.0.0.1/24', '10.0.0.1/16'] }, 'one address twice'],
    ['a network for an address', { addresses: ['10.0.0.0/24'] }, 'address 10.0.0.0/24'],
    ['a broadcast for an address', { addresses: ['10.0.0.255/24'] }, 'address 10.0.0.255/24'],
    ['a loopback address', { addresses: ['127.0.0.9/8'] }, 'address 127.0.0.9/8'],
    ['a multicast address', { addresses: ['224.0.0.9/24'] }, 'address 224.0.0.9/24'],
    ['the whole internet as subnet', { addresses: ['10.0.0.1/1'] }, 'wider than /8'],
    ['a gateway elsewhere', { gateway: '10.9.0.1' }, 'gateway 10.9.0.1 is in no subnet'],
    ['itself as gateway', { gateway: '10.0.0.1' }, 'gateway 10.0.0.1 is the NIC itself'],
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
      'the broadcast of one of its subnets as gateway',
      { addresses: ['10.0.0.1/24', '10.0.0.9/25'], gateway: '10.0.0.127' },
      'gateway 10.0.0.127 is the network or broadcast address of 10.0.0.0/25',
    ],
    [
      'a broadcast as next hop',
      { routes: [{ to: '10.9.0.0/16', via: '10.0.0.255' }] },
      'route to 10.9.0.0/16: via 10.0.0.255 is the network or broadcast address',
    ],
    ['a route to loopback', { routes: [{ to: '127.0.0.0/8' }] }, 'route to 127.0.0.0/8: no'],
    ['a route to a group', { routes: [{ to: '239.1.0.0/16' }] }, 'route to 239.1.0.0/16: no'],
    [
      'a route to a group of IPv6',
      { addresses: ['10.0.0.1/24', 'fd00::1/64'], routes: [{ to: 'ff05::/16' }] },
      'route to ff05::/16: no',
    ],
    [
      'a route of main to the metadata',
      { routing: 'main', routes: [metadata] },
      'route to 169.254.169.254/32: main needs 169.254.169.254',
    ],
    [
      'a route of main to a network with the metadata in it',
      { routing: 'main', routes: [{ to: '169.254.0.0/16', via: '10.0.0.254' }] },
      'route to 169.254.0.0/16: main needs 169.254.169.254',
    ],
    [
      'the subnet of the metadata',
      { addresses: ['169.254.1.1/16'] },
      'address 169.254.1.1/16 takes',
    ],
    ['a next hop elsewhere', { routes: [{ to: '10.9.0.0/16', via: '10.8.0.1' }] }, 'via 10.8.0.1'],
    [
      'two ways to one network',
      {
        routes: [
          { to: '10.9.0.0/16', via: '10.0.0.2' },
          { to: '10.9.1.1/16', via: '10.0.0.3' },
        ],
      },
      'route to 10.9.1.1/16 is there twice',
    ],
    ['a network of IPv6 too wide', { addresses: ['fd00::1/31'] }, 'wider than /32'],
    ['a link-local address', { addresses: ['fe80::1/64'] }, 'address fe80::1/64 is not of one'],
    ['loopback of IPv6', { addresses: ['::1/128'] }, 'address ::1/128 is not of one'],
    ['a group of IPv6', { addresses: ['ff02::1/64'] }, 'address ff02::1/64 is not of one'],
    ['a gateway of IPv6 elsewhere', { gateway6: 'fd00::1' }, 'gateway fd00::1 is in no subnet'],
    [
      'a route of a family that it has no address of',
      { routes: [{ to: 'fd00::/64' }] },
      'route to fd00::/64: the NIC has no address of IPv6',
    ],
    [
      'a next hop of the other family',
      { addresses: ['10.0.0.1/24', 'fd00::1/64'], routes: [{ to: 'fd01::/64', via: '10.0.0.2' }] },
      'via 10.0.0.2 is not of its family',
    ],
    [
      'two ways to one network of IPv6',
      {
        addresses: ['10.0.0.1/24', 'fd00::1/64'],
        gateway6: 'fd00::fe',
        routes: [{ to: '::/0', via: 'fe80::1' }],
      },
      'route to ::/0 is there twice',
    ],
    [
      'a default route in main',
      { routing: 'main', routes: [{ to: '0.0.0.0/0', via: '10.0.0.254' }] },
      'route to 0.0.0.0/0: main takes none wider than /8',
    ],
    [
      'half of the internet in main',
      { routing: 'main', routes: [{ to: '128.0.0.0/1' }] },
      'route to 128.0.0.0/1',
    ],
    [
      'another default than its gateway',
      { routes: [{ to: '0.0.0.0/0', via: '10.0.0.9' }] },
      'route to 0.0.0.0/0',
    ],
  ])('with %s is named with its field', (_, more, words) => {
    const wanted = entry(1, more);
    expect(entryProblem(wanted, [wanted, entry(2)])).toContain(words);
  });

  test('of which two have one route of main are told so; with metrics of their own they do not', () => {
    const routes = [{ to: '10.9.0.1/16', metric: 7 }];
    const [a, b] = [1, 2].map((n) => entry(n, { routing: 'main', routes }));
    if (!a || !b) throw new Error('no entries');
    expect(entryProblem(a, [a, b])).toBe('the route to 10.9.0.0/16 metric 7 is in two entries');
    const plain = [a, b].map((each) => ({ ...each, routes: [{ to: '10.9.0.0/16' }] }));
    expect(plain.map((each) => entryProblem(each, plain))).toEqual([undefined, undefined]);
    const apart = { ...b, routes: [{ to: '10.9.0.0/16' }] };
    expect(entryProblem(a, [a, apart])).toBeUndefined();
    const tables = [a, b].map((each) => ({ ...each, routing: 'pbr' as const }));
    expect(tables.map((each) => entryProblem(each, tables))).toEqual([undefined, undefined]);
  });
});
