import * as fc from 'fast-check';
import { Address4 } from 'ip-address';
import { describe, expect, test } from 'vitest';
import { overlaps as overlapsOfApi } from '../../api/address.ts';
import { broadcastOf, contains, ipOf, networkOf, overlaps, prefixOf } from './ipv4.ts';

const cidr = fc
  .tuple(fc.ipV4(), fc.integer({ min: 0, max: 32 }))
  .map(([ip, prefix]) => `${ip}/${prefix}`);

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
  });

  test('are what the library for addresses says', () => {
    fc.assert(
      fc.property(cidr, cidr, (a, b) => {
        const [one, other] = [new Address4(a), new Address4(b)];
        expect(ipOf(a)).toBe(one.correctForm());
        expect(prefixOf(a)).toBe(one.subnetMask);
        expect(networkOf(a)).toBe(`${one.startAddress().correctForm()}/${one.subnetMask}`);
        expect(contains(a, ipOf(b))).toBe(new Address4(other.correctForm()).isInSubnet(one));
        expect(overlaps(a, b)).toBe(overlapsOfApi(a, b));
      }),
    );
  });
});
