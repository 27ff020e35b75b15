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

describe('links', () => {
  test('a fresh NIC', () => {
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
      'up by its flag, not by its carrier',
      { flags: ['NO-CARRIER', 'UP'] },
      { up: true, noCarrier: true },
    ],
    ['a link without ARP', { flags: ['NOARP', 'UP'] }, { up: true, noArp: true }],
    [
      'the permanent MAC of a bond member',
      { permaddr: 'fa:16:3e:00:00:02' },
      { mac: 'fa:16:3e:00:00:02' },
    ],
    ['the master', { master: 'bond0' }, { master: 'bond0' }],
    [
      'what it sits on',
      { link: 'eth0', linkinfo: { info_kind: 'vlan' } },
      { kind: 'vlan', lower: 'eth0' },
    ],
    [
      'what a vxlan sends by',
      { linkinfo: { info_kind: 'vxlan', info_data: { id: 1, link: 'eth0' } } },
      { kind: 'vxlan', lower: 'eth0' },
    ],
    [
      'data of a kind that has something else under this key',
      { link: 'eth0', linkinfo: { info_kind: 'ovpn', info_data: { link: 7 } } },
      { kind: 'ovpn', lower: 'eth0' },
    ],
    ['alternative names', { altnames: ['enp0s5'] }, { altNames: ['enp0s5'] }],
  ])('%s', (_, more, expected) => {
    expect(parse(more)).toMatchObject(expected);
  });

  test("a veth's peer is not what it sits on", () => {
    expect(parse({ link: 'eth1', linkinfo: { info_kind: 'veth' } })).not.toHaveProperty('lower');
  });

  test('a link that has the index of a link of another namespace is not what a vxlan sends by', () => {
    const linkinfo = { info_kind: 'vxlan', info_data: { link: 'eth0' } };
    expect(parse({ link_index: 4, link_netnsid: 0, linkinfo })).not.toHaveProperty('lower');
  });

  test('no maximum, no IPv6, no lower link', () => {
    const { inet6_addr_gen_mode: _, ...bare } = entry;
    const found = readLink(JSON.stringify({ ...bare, max_mtu: 0, link: null }));
    expect(found).not.toHaveProperty('maxMtu');
    expect(found).not.toHaveProperty('addressMode');
    expect(found).not.toHaveProperty('lower');
  });

  test('any other text is refused', () => {
    expect(() => readLink('{"ifname": 3}')).toThrow(/ifindex/);
  });
});
