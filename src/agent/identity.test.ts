import { describe, expect, test } from 'vitest';
import { host, link, macOf } from '../../test/fixtures/agent-samples.ts';
import { linkOf, nicOf } from './identity.ts';

const kinds = ['bridge', 'bond', 'tun', 'dummy', 'vxlan', 'vrf', 'openvswitch', 'macvlan'];
const borrowed = (kind: string, more = {}) =>
  link(5, { name: `${kind}5`, kind, mac: macOf(1), up: true, ...more });

describe('the link a MAC names', () => {
  test.each([...kinds, 'ipvlan', 'team'])(
    "a %s with a NIC's MAC is never the NIC, with a member or without",
    (kind) => {
      expect(nicOf(host([borrowed(kind)]), macOf(1)).count).toBe('none');
      const member = link(1, { master: `${kind}5` });
      expect(linkOf(host([borrowed(kind), member]), macOf(1))).toBe(member);
    },
  );

  test('a veth is the NIC on a container node', () => {
    const veth = link(1, { kind: 'veth' });
    expect(linkOf(host([veth]), macOf(1))).toBe(veth);
  });

  test('a MAC shared by two NICs names no link', () => {
    const [first, second] = [link(1), link(7, { mac: macOf(1), kind: 'veth' })];
    const found = nicOf(host([first, borrowed('bridge'), second]), macOf(1));
    expect(found).toEqual({ count: 'twins', links: [first, second] });
    expect(linkOf(host([first, second]), macOf(1))).toBeUndefined();
  });
});
