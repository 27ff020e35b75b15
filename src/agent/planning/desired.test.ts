import { describe, expect, test } from 'vitest';
import { entry, link } from '../../../test/fixtures/agent-samples.ts';
import { desiredNic, desiredState } from './desired.ts';
import { routeText } from './nic-state.ts';

const nic = link(1);

describe('desired NIC state', () => {
  test('a policy-routed NIC has a dedicated table, priority and metric', () => {
    const wanted = entry(1, {
      routes: [
        { to: '10.77.0.9/24', via: '10.0.0.253' },
        { to: '10.78.0.0/16', metric: 5 },
      ],
    });
    const desired = desiredNic(wanted, 3, nic, []);
    expect(desired).toMatchObject({ name: 'multinic3', index: 3, table: 103, mtu: 1450 });
    expect(desired.routes.map(routeText)).toEqual([
      '10.0.0.0/24 table 103 metric 103 src 10.0.0.1 proto 4 scope 253',
      '0.0.0.0/0 table 103 metric 103 via 10.0.0.254 proto 4 scope 0',
      '10.77.0.0/24 table 103 metric 103 via 10.0.0.253 proto 4 scope 0',
      '10.78.0.0/16 table 103 metric 5 proto 4 scope 253',
    ]);
    const [rule] = desired.rules;
    expect(rule).toEqual({ from: '10.0.0.1/32', table: 103, priority: 10_103, protocol: 2 });
  });

  test('a dual-stack NIC has a subnet route, default route and rules per family', () => {
    const wanted = entry(1, {
      addresses: ['10.0.0.1/24', 'fd00::1/64', 'fd00::9/64', 'fd01::1/128'],
      gateway6: 'fe80::1',
      routes: [{ to: 'fd77::1/64', metric: 0 }],
    });
    const { routes, rules } = desiredNic(wanted, 3, nic, []);
    expect(routes.filter(({ to }) => to.includes(':')).map(routeText)).toEqual([
      'fd00::/64 table 103 metric 103 proto 4 scope 0',
      '::/0 table 103 metric 103 via fe80::1 proto 4 scope 0',
      'fd77::/64 table 103 metric 1024 proto 4 scope 0',
    ]);
    expect(rules.map(({ from }) => from)).toEqual([
      '10.0.0.1/32',
      'fd00::1/128',
      'fd00::9/128',
      'fd01::1/128',
    ]);
  });

  test('a NIC has a MAC-based link-local address only with an IPv6 address', () => {
    const dual = desiredNic(entry(1, { addresses: ['fd00::1/64'] }), 0, nic, []);
    expect(desiredState(dual).link).toMatchObject({
      addressMode: 'eui64',
      linkLocal: ['fe80::ff:fe00:101/64'],
      settings: { 'ipv6.accept_ra': '0', 'ipv6.disable_ipv6': '0' },
    });
    const four = desiredState(desiredNic(entry(1), 0, nic, [])).link;
    expect(four).toMatchObject({ addressMode: 'none', linkLocal: [] });
    expect(four?.settings).not.toHaveProperty('ipv6.disable_ipv6');
  });

  test('routing mode main puts routes in main, without rules, table or default route', () => {
    const wanted = entry(1, {
      routing: 'main',
      routes: [
        { to: '10.77.0.9/24', via: '10.0.0.253' },
        { to: '10.78.0.0/16', metric: 5 },
      ],
    });
    const { routes, rules } = desiredNic(wanted, 3, nic, []);
    expect(routes.map(routeText)).toEqual([
      '10.77.0.0/24 table 254 metric 103 via 10.0.0.253 proto 4 scope 0',
      '10.78.0.0/16 table 254 metric 5 proto 4 scope 253',
    ]);
    expect(rules).toEqual([]);
  });

  test('routing mode isolated adds no routes and no rules', () => {
    const wanted = entry(1, { routing: 'isolated', routes: [{ to: '10.77.0.0/24' }] });
    expect(desiredNic(wanted, 3, nic, [])).toMatchObject({ routes: [], rules: [], table: 103 });
  });

  test("a NIC without a requested MTU keeps the link's MTU", () => {
    const { mtu: _, ...wanted } = entry(1);
    expect(desiredNic(wanted, 0, { ...nic, mtu: 1400 }, []).mtu).toBe(1400);
  });

  test('a NIC without a gateway has no default route', () => {
    const { gateway: _, ...wanted } = entry(1);
    expect(desiredNic(wanted, 0, nic, []).routes.map(({ to }) => to)).toEqual(['10.0.0.0/24']);
  });

  test('a /32 address gets a rule and no subnet route', () => {
    const { gateway: _, ...wanted } = entry(1, { addresses: ['10.0.0.1/32'] });
    expect(desiredNic(wanted, 0, nic, [])).toMatchObject({
      routes: [],
      rules: [{ from: '10.0.0.1/32' }],
    });
  });

  test('two addresses in a subnet share a subnet route and get a rule each', () => {
    const wanted = entry(1, { addresses: ['10.0.0.1/24', '10.0.0.9/24'] });
    const { routes, rules } = desiredNic(wanted, 0, nic, []);
    expect(routes.filter(({ scope }) => scope === 253)).toMatchObject([{ src: '10.0.0.1' }]);
    expect(rules.map(({ from }) => from)).toEqual(['10.0.0.1/32', '10.0.0.9/32']);
  });

  test('a route repeating the subnet or the default route is not duplicated', () => {
    const wanted = entry(1, {
      routes: [{ to: '10.0.0.0/24' }, { to: '0.0.0.0/0', via: '10.0.0.254' }],
    });
    expect(desiredNic(wanted, 0, nic, []).routes).toHaveLength(2);
  });

  test.each([
    [[], ['10.0.0.1/24', '10.1.0.1/24', '10.0.0.9/24']],
    [
      ['10.1.0.1/24', '10.0.0.9/24'],
      ['10.0.0.9/24', '10.1.0.1/24', '10.0.0.1/24'],
    ],
    [
      ['10.0.0.9/24', '10.0.0.1/24'],
      ['10.0.0.9/24', '10.1.0.1/24', '10.0.0.1/24'],
    ],
  ])(
    'the primary address per subnet stays first, with present addresses %j',
    (present, expected) => {
      const wanted = entry(1, { addresses: ['10.0.0.1/24', '10.1.0.1/24', '10.0.0.9/24'] });
      expect(desiredNic(wanted, 0, nic, present).addresses).toEqual(expected);
    },
  );

  test('IPv6 addresses keep the requested order: the kernel lists the latest first and has no primary address', () => {
    const addresses = ['fd00::11/64', 'fd00::12/64'];
    const wanted = desiredNic(entry(1, { addresses }), 0, link(1), addresses.toReversed());
    expect(wanted.addresses).toEqual(addresses);
  });

  test('an IPv4-only NIC is up, without link-local addresses and router advertisements', () => {
    const state = desiredState(desiredNic(entry(1), 0, nic, []));
    expect(state.link).toMatchObject({
      up: true,
      addressMode: 'none',
      settings: { 'ipv6.accept_ra': '0' },
      linkLocal: [],
      addresses: [{ cidr: '10.0.0.1/24', broadcast: '10.0.0.255', noPrefixRoute: false }],
    });
  });

  test('a NIC with an MTU below 1280 gets no IPv6 settings', () => {
    const least = desiredState(desiredNic(entry(1, { mtu: 1280 }), 0, nic, []));
    expect(least.link).toMatchObject({ addressMode: 'none', settings: { 'ipv6.accept_ra': '0' } });
    const { link: state } = desiredState(desiredNic(entry(1, { mtu: 1279 }), 0, nic, []));
    expect(state).not.toHaveProperty('addressMode');
    expect(state).toMatchObject({ settings: {} });
  });

  test('a /31 address has no broadcast address', () => {
    const desired = desiredNic(entry(1, { addresses: ['10.0.0.0/31'] }), 0, nic, []);
    expect(desiredState(desired).link?.addresses).toEqual([
      { cidr: '10.0.0.0/31', noPrefixRoute: false },
    ]);
  });
});
