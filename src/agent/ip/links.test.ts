import { describe, expect, test } from 'vitest';
import { readLink } from './kernel.ts';

const entry = {
  ifindex: 3,
  ifname: 'ens5',
  flags: ['BROADCAST', 'MULTICAST'],
  mtu: 1500,
  max_mtu: 9216,
  link_type: '[1]',
  address: 'FA:16:3E:00:00:01',
  inet6_addr_gen_mode: 'eui64',
};

function parse(more: object) {
  return readLink(JSON.stringify({ ...entry, ...more }));
}

describe('readLink', () => {
  test('readLink parses a fresh NIC', () => {
    expect(parse({})).toEqual({
      index: 3,
      name: 'ens5',
      altNames: [],
      mac: 'fa:16:3e:00:00:01',
      mtu: 1500,
      maxMtu: 9216,
      up: false,
      addressMode: 'eui64',
    });
  });

  test.each([
    [
      'state up by flag, without a carrier',
      { flags: ['NO-CARRIER', 'UP'] },
      { up: true, noCarrier: true },
    ],
    ['a link without ARP', { flags: ['NOARP', 'UP'] }, { up: true, noArp: true }],
    [
      "a bond member's permanent MAC",
      { permaddr: 'fa:16:3e:00:00:02' },
      { mac: 'fa:16:3e:00:00:02' },
    ],
    ['the master', { master: 'bond0' }, { master: 'bond0' }],
    [
      "a vlan's lower link",
      { link: 'eth0', linkinfo: { info_kind: 'vlan' } },
      { kind: 'vlan', lower: 'eth0' },
    ],
    [
      "a vxlan's underlying link",
      { linkinfo: { info_kind: 'vxlan', info_data: { id: 1, link: 'eth0' } } },
      { kind: 'vxlan', lower: 'eth0' },
    ],
    [
      'a kind with other data under the key link',
      { link: 'eth0', linkinfo: { info_kind: 'ovpn', info_data: { link: 7 } } },
      { kind: 'ovpn', lower: 'eth0' },
    ],
    ['alternative names', { altnames: ['enp0s5'] }, { altNames: ['enp0s5'] }],
  ])('readLink parses %s', (_, more, expected) => {
    expect(parse(more)).toMatchObject(expected);
  });

  test("readLink does not report a veth's peer as lower link", () => {
    expect(parse({ link: 'eth1', linkinfo: { info_kind: 'veth' } })).not.toHaveProperty('lower');
  });

  test("readLink ignores a vxlan's lower link in another namespace", () => {
    const linkinfo = { info_kind: 'vxlan', info_data: { link: 'eth0' } };
    expect(parse({ link_index: 4, link_netnsid: 0, linkinfo })).not.toHaveProperty('lower');
  });

  test('readLink leaves out a missing maximum MTU, address mode and lower link', () => {
    const { inet6_addr_gen_mode: _, ...bare } = entry;
    const found = readLink(JSON.stringify({ ...bare, max_mtu: 0, link: null }));
    expect(found).not.toHaveProperty('maxMtu');
    expect(found).not.toHaveProperty('addressMode');
    expect(found).not.toHaveProperty('lower');
  });

  test('readLink throws on any other text', () => {
    expect(() => readLink('{"ifname": 3}')).toThrow(/ifindex/);
  });
});
