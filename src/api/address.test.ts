import { describe, expect, test } from 'vitest';
import { broadcastOf, contains, ipOf, isIPv6, networkOf, prefixOf } from './address.ts';

describe('IPv4 networks', () => {
  test.each([
    ['10.0.0.7/24', '10.0.0.0/24', '10.0.0.255'],
    ['10.255.255.255/9', '10.128.0.0/9', '10.255.255.255'],
    ['255.255.255.255/32', '255.255.255.255/32', undefined],
    ['10.0.0.1/31', '10.0.0.0/31', undefined],
    ['10.0.0.1/30', '10.0.0.0/30', '10.0.0.3'],
    ['1.2.3.4/0', '0.0.0.0/0', '255.255.255.255'],
  ])('%s is in %s, broadcast %s', (address, network, broadcast) => {
    expect(networkOf(address)).toBe(network);
    expect(broadcastOf(address)).toBe(broadcast);
    expect(`${ipOf(address)}/${prefixOf(address)}`).toBe(address);
    expect(contains(network, ipOf(address))).toBe(true);
  });
});

test.each([
  ['fd00:10::/64', 'fd00:10::9', true],
  ['fd00:10::/64', 'fd00:11::9', false],
  ['fd00:10::/64', '10.0.0.1', false],
  ['0.0.0.0/0', 'fd00::1', false],
])('%s contains %s: %s', (network, address, expected) => {
  expect(contains(network, address)).toBe(expected);
});

test.each([
  ['fd00::1', true],
  ['::ffff:10.0.0.1', true],
  ['fd00::1/64', false],
  ['fe80::1%eth0', false],
  ['10.0.0.1', false],
  ['', false],
])('"%s" is an IPv6 address: %s', (text, expected) => {
  expect(isIPv6(text)).toBe(expected);
});
