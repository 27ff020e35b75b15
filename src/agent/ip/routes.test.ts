import { describe, expect, test } from 'vitest';
import { RouteReader } from './routes.ts';

const subnet = {
  type: '1',
  dst: '10.0.0.0/16',
  dev: 'multinic0',
  table: '100',
  protocol: '4',
  scope: '253',
  prefsrc: '10.0.0.11',
  metric: 100,
  flags: [],
};

function parse(route: object) {
  return read(JSON.stringify(route));
}

function read(text: string) {
  const reader = new RouteReader();
  reader.add(text);
  return reader.routes[0];
}

describe('RouteReader', () => {
  test('RouteReader parses a subnet route in a table', () => {
    expect(parse(subnet)).toEqual({
      family: 4,
      type: 1,
      to: '10.0.0.0/16',
      links: ['multinic0'],
      table: 100,
      protocol: 4,
      scope: 253,
      src: '10.0.0.11',
      metric: 100,
      opaque: false,
    });
  });

  test.each([
    [
      'the IPv4 default',
      { dst: 'default', gateway: '10.0.0.1' },
      { family: 4, to: '0.0.0.0/0', via: '10.0.0.1' },
    ],
    ['the IPv6 default', { dst: 'default', pref: 'medium' }, { family: 6, to: '::/0' }],
    ['an IPv4 host', { dst: '10.0.0.9' }, { to: '10.0.0.9/32' }],
    ['an IPv6 host', { dst: 'fe80::1', pref: 'medium' }, { family: 6, to: 'fe80::1/128' }],
    ['a blackhole', { type: '6', dst: '10.9.0.0/16', dev: undefined }, { type: 6, links: [] }],
    ['a link without carrier', { flags: ['linkdown', 'dead'] }, { opaque: false }],
  ])('RouteReader parses %s', (_, more, expected) => {
    expect(parse({ ...subnet, ...more })).toMatchObject(expected);
  });

  test.each([
    ['onlink', { flags: ['onlink'] }],
    ['a preference', { dst: 'fd77::/48', pref: 'high' }],
    ['metrics', { metrics: [{ mtu: 1400 }] }],
    ['a next hop of the other family', { via: { family: 'inet6', host: 'fe80::1' } }],
  ])('a route with %s is opaque: the agent cannot restore it', (_, more) => {
    expect(parse({ ...subnet, ...more })).toMatchObject({ opaque: true });
  });

  test('a multipath route has all its links', () => {
    const { dev: _, ...plain } = subnet;
    const nexthops = [{ dev: 'a', gateway: '10.0.0.1' }, { dev: 'b' }];
    expect(parse({ ...plain, nexthops })).toMatchObject({ links: ['a', 'b'], opaque: true });
  });

  test.each<[string, object, object]>([
    ["by the object's link", { id: 5, gateway: '10.0.0.1', dev: 'a' }, { links: ['a'] }],
    [
      'by any link if the object is a group',
      { id: 5, group: [{ id: 6 }] },
      { links: [], anyLink: true },
    ],
  ])('a route with a nexthop object leaves %s', (_, nh_info, expected) => {
    const { dev: _dev, ...plain } = subnet;
    expect(parse({ ...plain, nhid: 5, nh_info })).toMatchObject({ ...expected, opaque: true });
  });

  test('a route with an unknown nexthop object may leave by any link', () => {
    const { dev: _, ...plain } = subnet;
    expect(parse({ ...plain, nhid: 5 })).toMatchObject({ links: [], anyLink: true });
    expect(parse({ ...plain, nhid: 5, type: '6' })).not.toHaveProperty('anyLink');
    expect(parse({ ...subnet, nhid: 5 })).not.toHaveProperty('anyLink');
  });

  test.each<[string, object, boolean]>([
    [
      'several gateways',
      {
        nexthops: [
          { dev: 'a', gateway: '10.0.0.1' },
          { dev: 'b', via: {} },
        ],
      },
      true,
    ],
    [
      'a gateway and a link',
      { nexthops: [{ dev: 'a', gateway: '10.0.0.1' }, { dev: 'b' }] },
      false,
    ],
    [
      'a gateway in the other family',
      { dev: 'a', via: { family: 'inet6', host: 'fe80::1' } },
      true,
    ],
    [
      'a nexthop object with a gateway',
      { nhid: 5, nh_info: { dev: 'a', gateway: '10.0.0.1' } },
      true,
    ],
    ['a nexthop object on a link', { nhid: 5, nh_info: { dev: 'a' } }, false],
    ['a link only', { dev: 'a' }, false],
  ])('behindGateway for a route with %s: %j, %s', (_, way, expected) => {
    const { dev: _dev, ...plain } = subnet;
    expect(parse({ ...plain, ...way })?.behindGateway ?? false).toBe(expected);
  });

  test("an encapsulated route keeps its own destination, not the tunnel's far end", () => {
    const json =
      '{"dst":"10.62.0.0/24","encap":"ip","id":3,"src":"0.0.0.0","dst":"10.200.0.9","dev":"eth0"}';
    expect(read(json)).toMatchObject({ to: '10.62.0.0/24', opaque: true });
  });
});
