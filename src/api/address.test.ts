import * as fc from 'fast-check';
import { Address4 } from 'ip-address';
import { describe, expect, test } from 'vitest';
import {
  broadcastOf,
  contains,
  ipOf,
  isIPv6,
  networkOf,
  overlaps,
  plainForm,
  prefixOf,
} from './address.ts';

describe('IPv4 networks', () => {
  test.each([
    ['10.0.0.7/24', '10.0.0.0/24', '10.0.0.255'],
    ['10.255.255.255/9', '10.128.0.0/9', '10.255.255.255'],
    ['255.255.255.255/32', '255.255.255.255/32', undefined],
    ['10.0.0.1/31', '10.0.0.0/31', undefined],
    ['10.0.0.1/30', '10.0.0.0/30', '10.0.0.3'],
    ['1.2.3.4/0', '0.0.0.0/0', '255.255.255.255'],
  ])('IPv4 address %s has network %s and broadcast %s', (address, network, broadcast) => {
    expect(networkOf(address)).toBe(network);
    expect(broadcastOf(address)).toBe(broadcast);
    expect(`${ipOf(address)}/${prefixOf(address)}`).toBe(address);
    expect(contains(network, ipOf(address))).toBe(true);
  });
});

describe('IPv6 networks', () => {
  test.each([
    ['fd00:10::7/64', 'fd00:10::/64'],
    ['FD00:0010:0::7/64', 'fd00:10::/64'],
    ['2001:db8::1/128', '2001:db8::1/128'],
    ['2001:db8::1/0', '::/0'],
  ])('IPv6 address %s has network %s and no broadcast', (address, network) => {
    expect(networkOf(address)).toBe(network);
    expect(broadcastOf(address)).toBeUndefined();
    expect(contains(network, ipOf(address))).toBe(true);
  });

  test.each([
    ['FD00:0:0:0::07/64', 'fd00::7/64'],
    ['fd00:0:0:1:0:0:0:9', 'fd00:0:0:1::9'],
    ['10.0.0.1/24', '10.0.0.1/24'],
  ])('plainForm converts %s to %s', (text, plain) => {
    expect(plainForm(text)).toBe(plain);
  });
});

test.each([
  ['10.0.0.0/8', '10.9.0.0/16', true],
  ['10.9.0.0/16', '10.0.0.0/8', true],
  ['10.9.0.0/16', '10.8.0.0/16', false],
  ['fd00::/16', 'fd00:9::7/64', true],
  ['fd00:8::/32', 'fd00:9::/32', false],
  ['0.0.0.0/0', '::/0', false],
])('%s overlaps %s: %s', (a, b, expected) => {
  expect(overlaps(a, b)).toBe(expected);
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

test('IPv4 networks agree with the address library', () => {
  const byte = fc.constantFrom(0, 1, 10, 127, 128, 255);
  const network = fc
    .tuple(byte, byte, byte, byte, fc.integer({ min: 0, max: 32 }))
    .map(([a, b, c, d, length]) => `${a}.${b}.${c}.${d}/${length}`);
  fc.assert(
    fc.property(network, network, (one, other) => {
      const [x, y] = [new Address4(one), new Address4(other)];
      expect(networkOf(one)).toBe(`${x.startAddress().correctForm()}/${x.subnetMask}`);
      expect(contains(one, other)).toBe(y.isInSubnet(x));
      expect(overlaps(one, other)).toBe(x.isInSubnet(y) || y.isInSubnet(x));
    }),
    { numRuns: 2_000 },
  );
  for (const text of ['1.2.3.4/33', '01.2.3.4/8', '1.2.3/8']) {
    expect(() => networkOf(text)).toThrow();
  }
});
