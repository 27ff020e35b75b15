import { describe, expect, test } from 'vitest';
import { readAddresses } from './kernel.ts';

const four = {
  family: 'inet',
  local: '10.0.0.11',
  prefixlen: 16,
  broadcast: '10.0.255.255',
  scope: '0',
  label: 'ens5',
  valid_life_time: 4_294_967_295,
};

function parse(...entries: object[]) {
  const json = JSON.stringify({ ifindex: 5, ifname: 'ens5', addr_info: entries });
  return readAddresses(json).addresses;
}

describe('readAddresses', () => {
  test('readAddresses parses an IPv4 address', () => {
    expect(parse(four)).toEqual([
      {
        link: 'ens5',
        family: 4,
        cidr: '10.0.0.11/16',
        scope: 0,
        broadcast: '10.0.255.255',
        noPrefixRoute: false,
        opaque: false,
      },
    ]);
  });

  test('readAddresses parses an IPv6 link-local address', () => {
    const six = { family: 'inet6', local: 'fe80::1', prefixlen: 64, scope: '253' };
    expect(parse(six)).toMatchObject([
      { family: 6, cidr: 'fe80::1/64', scope: 253, opaque: false },
    ]);
  });

  test("readAddresses keeps the kernel's order, as the first address per subnet is primary", () => {
    const found = parse(four, { ...four, local: '10.0.0.5', secondary: true });
    expect(found?.map(({ cidr }) => cidr)).toEqual(['10.0.0.11/16', '10.0.0.5/16']);
  });

  test.each([
    ['with a peer', { address: '10.0.0.12' }],
    ['with a foreign label', { label: 'ens5:vip' }],
  ])('an address %s is opaque: the agent cannot restore it', (_, more) => {
    expect(parse({ ...four, ...more })).toMatchObject([{ opaque: true }]);
  });

  test('an address with a lifetime is temporary', () => {
    expect(parse({ ...four, dynamic: true })).toMatchObject([{ temporary: true, opaque: false }]);
  });

  test('readAddresses returns none for links without addresses, in both output forms', () => {
    expect(parse()).toEqual([]);
    expect(readAddresses('{"ifindex":2,"ifname":"b"}').addresses).toEqual([]);
    expect(parse({})).toEqual([]);
  });
});
