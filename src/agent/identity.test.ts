import { describe, expect, test } from 'vitest';
import { address, host, link, macOf } from '../../test/fixtures/agent-samples.ts';
import { identified, linkOf, nicOf } from './identity.ts';
import type { Link } from './snapshot.ts';
import type { NicRecord } from './state.ts';

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

const other = '02:00:00:00:09:09';

/** The link of NIC 1 under our name, with another MAC. */
const ours = { mac: other, name: 'multinic0' };

/** Returns the link and MAC that identify NIC 1 on a node with this own link. */
function identify(nic: Partial<Link>, own: Partial<Link> = {}, records: readonly NicRecord[] = []) {
  const on = host([link(1, nic)], { addresses: [address('eth0', '10.200.0.3/16')] });
  const [eth0, ...rest] = on.links as [Link, ...Link[]];
  const known = { records, bootId: 'boot-1', protectedAddresses: ['10.200.0.2'] };
  const seen = { ...on, links: [{ ...eth0, ...own }, ...rest] };
  const found = nicOf({ links: identified(seen, new Set([macOf(1)]), known) }, macOf(1));
  return found.count === 'one' ? (found.link.sendsAs ?? 'itself') : found.count;
}

function recordIn(bootId: string, setUp: number): NicRecord {
  const boot = { bootId, addresses: [], setUp };
  const given = { originalName: 'ens1', addresses: [], table: 100, priority: 10_100, files: [] };
  return { mac: macOf(1), index: 0, ...given, boot };
}

describe('the link that is a NIC', () => {
  test.each<[string, Parameters<typeof identify>, string]>([
    ['with its own MAC', [{}], 'itself'],
    ['with another current MAC', [{ sendsAs: other }], other],
    ['of another permanent MAC that sends with it', [{ mac: other, sendsAs: macOf(1) }], 'itself'],
    ['that its bond sends with', [{ mac: other, sendsAs: macOf(1), master: 'bond0' }], 'none'],
    ['set up in this boot', [ours, {}, [recordIn('boot-1', 11)]], other],
    ['set up in an earlier boot', [ours, {}, [recordIn('boot-0', 11)]], 'none'],
    ['with another index', [ours, {}, [recordIn('boot-1', 12)]], 'none'],
    ['with the index and a foreign name', [{ mac: other }, {}, [recordIn('boot-1', 11)]], 'none'],
    ['as a veth on a container node', [{ kind: 'veth' }, { kind: 'veth' }], 'itself'],
    ['as a veth beside a bridge with the address', [{ kind: 'veth' }, { kind: 'bridge' }], 'none'],
    ['as a veth beside a physical link', [{ kind: 'veth' }], 'none'],
  ])('the link %s', (_, given, expected) => {
    expect(identify(...given)).toBe(expected);
  });

  test('a link with the MAC of a port wins over the link set up for it', () => {
    const links = [link(1, { mac: other }), link(2, { mac: macOf(1) })];
    const records = [recordIn('boot-1', 11)];
    const known = { records, bootId: 'boot-1', protectedAddresses: [] };
    const seen = identified(host(links), new Set([macOf(1)]), known);
    expect(linkOf({ links: seen }, macOf(1))?.name).toBe('ens2');
  });

  test('a link with the MAC of NIC 2 is not NIC 1, whose index the link has', () => {
    const second = link(1, { mac: macOf(2), name: 'multinic0' });
    const known = { records: [recordIn('boot-1', 11)], bootId: 'boot-1', protectedAddresses: [] };
    const seen = identified(host([second]), new Set([macOf(1), macOf(2)]), known);
    expect(linkOf({ links: seen }, macOf(2))?.name).toBe('multinic0');
    expect(nicOf({ links: seen }, macOf(1)).count).toBe('none');
  });
});
