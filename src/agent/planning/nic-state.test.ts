import { describe, expect, test } from 'vitest';
import {
  address,
  host,
  macOf,
  link as nicLink,
  route,
} from '../../../test/fixtures/agent-samples.ts';
import { type NicState, nicDifference, presentState, sameNic } from './nic-state.ts';

const rule = { from: '10.0.0.1/32', table: 100, priority: 10_100, protocol: 4 };
const state: NicState = {
  link: {
    name: 'multinic0',
    mtu: 1450,
    up: true,
    addressMode: 'none',
    settings: { 'ipv6.accept_ra': '0' },
    addresses: [
      { cidr: '10.0.0.1/24', noPrefixRoute: false },
      { cidr: '10.0.1.1/24', noPrefixRoute: false },
    ],
    linkLocal: [],
    routes: [{ to: '10.0.0.0/24', table: 100, protocol: 4, scope: 253, metric: 100 }],
  },
  rules: [rule],
};
const link = state.link as NonNullable<NicState['link']>;

describe('NIC state comparison', () => {
  test('NIC states are equal in any order', () => {
    expect(nicDifference({ ...state, rules: [rule, rule] }, state)).toBe('');
    const turned = { ...state, link: { ...link, addresses: link.addresses.toReversed() } };
    expect(sameNic(state, turned)).toBe(true);
    expect(nicDifference(turned, state)).toBe('');
  });

  test.each<[string, NicState, string]>([
    ['name', { ...state, link: { ...link, name: 'ens5' } }, 'name is ens5, not multinic0'],
    ['mtu', { ...state, link: { ...link, mtu: 1500 } }, 'mtu is 1500, not 1450'],
    ['link', { ...state, link: { ...link, up: false } }, 'state is down, not up'],
    [
      'ra',
      { ...state, link: { ...link, settings: { 'ipv6.accept_ra': '1' } } },
      'ipv6.accept_ra is 1, not 0',
    ],
    [
      'routes',
      { ...state, link: { ...link, routes: [] } },
      'routes is none, not 10.0.0.0/24 table 100',
    ],
    ['rules', { ...state, rules: [] }, 'rules is none, not 10100: from 10.0.0.1/32 lookup 100'],
    [
      'MAC',
      { ...state, link: { ...link, changedMac: { now: '02:00:00:00:00:09', own: '' } } },
      'current MAC is 02:00:00:00:00:09, not none',
    ],
    ['gone', { rules: [rule] }, 'the link is missing'],
  ])('nicDifference describes a difference in %s', (_, have, words) => {
    expect(sameNic(have, state)).toBe(false);
    expect(nicDifference(have, state)).toContain(words);
  });

  test('NIC states differ if an address lacks the connected route', () => {
    const hidden = [
      { cidr: '10.0.0.1/24', noPrefixRoute: true },
      link.addresses[1] ?? link.addresses[0],
    ];
    const have = {
      ...state,
      link: { ...link, addresses: hidden.filter((each) => each !== undefined) },
    };
    expect(sameNic(have, state)).toBe(false);
  });
});

describe('connected route detection', () => {
  const belongings = {
    tables: [100],
    ips: ['10.0.0.1'],
    routes: [],
    rules: ['10.0.0.1 table 100'],
  };
  /** True if the connected route counts as missing, given link state and routes. */
  function isMissing(up: boolean, ...routes: ReturnType<typeof route>[]) {
    const nic = nicLink(1, { up, mac: macOf(1) });
    const bare = host([nic], { addresses: [address('ens1', '10.0.0.1/24')] });
    const on = { ...bare, routes };
    return presentState(on, nic, belongings).link?.addresses[0]?.noPrefixRoute;
  }

  test('a connected route is missing without a route in main', () => {
    expect(isMissing(true)).toBe(true);
    expect(isMissing(true, route('10.0.0.0/24', 'ens1', { table: 100 }))).toBe(true);
    expect(isMissing(true, route('10.0.0.0/24', 'ens1', { protocol: 2 }))).toBe(false);
  });

  test('a connected route is not missing on a down link, where the kernel makes none', () => {
    expect(isMissing(false)).toBe(false);
  });
});
