import { BlockList } from 'node:net';
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { isIn, type Network, networkIn } from './networks.ts';

function network(text: string): Network {
  const read = networkIn(text);
  if (typeof read === 'string') throw new Error(read);
  return read;
}

describe('networkIn', () => {
  it.each([
    ['', 'is not a network'],
    ['localhost/8', 'is not a network'],
    ['10.0.0/8', 'is not a network'],
    ['010.0.0.0/8', 'is not a network'],
    ['10.0.0.1', 'has no prefix length; one address is 10.0.0.1/32'],
    ['fd00::1', 'has no prefix length; one address is fd00::1/128'],
    ['10.0.0.0/8/8', 'has no prefix length'],
    ['10.0.0.0/33', 'not between 0 and 32'],
    ['10.0.0.0/', 'not between 0 and 32'],
    ['10.0.0.0/+8', 'not between 0 and 32'],
    ['fd00::/129', 'not between 0 and 128'],
    ['10.0.0.5/24', 'has host bits set: write the network, or 10.0.0.5/32'],
    ['fd00::5/64', 'write the network, or fd00::5/128'],
    ['::ffff:10.0.0.0/104', 'is an IPv4-mapped network: write it in IPv4 form'],
    ['::ffff:a00:0/104', 'is an IPv4-mapped network: write it in IPv4 form'],
    ['0:0:0:0:0:FFFF:10.0.0.0/104', 'is an IPv4-mapped network: write it in IPv4 form'],
    ['::0:ffff:0:0/96', 'is an IPv4-mapped network: write it in IPv4 form'],
  ])('networkIn refuses "%s": the text %s', (text, why) => {
    expect(networkIn(text)).toContain(why);
  });
});

describe('isIn', () => {
  it.each([
    ['10.0.0.0/8', '10.255.0.1', true],
    ['10.0.0.0/8', '11.0.0.1', false],
    ['10.0.0.0/8', '::ffff:10.1.2.3', true],
    ['10.0.0.0/8', '::FFFF:10.1.2.3', true],
    ['10.0.0.0/8', '::ffff:11.1.2.3', false],
    ['10.1.2.3/32', '10.1.2.3', true],
    ['10.1.2.3/32', '10.1.2.2', false],
    ['0.0.0.0/0', '203.0.113.9', true],
    ['0.0.0.0/0', 'fd00::1', false],
    ['::/0', '10.0.0.1', false],
    ['::/0', '::ffff:10.0.0.1', false],
    ['::/0', 'fd00::1', true],
    ['fd00::/8', 'fd12:3456::1', true],
    ['fd00::/8', 'fe80::1', false],
    ['fe80::/10', 'fe80::1%eth0', true],
    ['2001:db8:0:1::/64', '2001:db8:0:1:a:b:c:d', true],
    ['2001:db8:0:1::/64', '2001:db8:0:2::1', false],
    ['10.0.0.0/8', '', false],
    ['10.0.0.0/8', 'unknown', false],
  ])('isIn for network %s and address %s returns %s', (cidr, address, expected) => {
    expect(isIn(network(cidr), address)).toBe(expected);
  });

  it('isIn agrees with the Node.js BlockList for any address and network', () => {
    const families = [
      { family: 'ipv4', width: 32, of: fc.ipV4() },
      { family: 'ipv6', width: 128, of: fc.ipV6() },
    ] as const;
    for (const { family, width, of } of families) {
      fc.assert(
        fc.property(of, of, fc.integer({ min: 0, max: width }), (base, address, prefix) => {
          const list = new BlockList();
          list.addSubnet(base, prefix, family);
          const { bits } = network(`${base}/${width}`);
          const mask = BigInt(width - prefix);
          const masked: Network = {
            family: family === 'ipv4' ? 4 : 6,
            bits: (bits >> mask) << mask,
            prefix,
          };
          expect(isIn(masked, address)).toBe(list.check(address, family));
          expect(isIn(masked, base)).toBe(true);
        }),
        { numRuns: 500 },
      );
    }
  });
});
