import { describe, expect, test } from 'vitest';
import {
  address,
  alone,
  entry,
  host,
  input,
  link,
  macOf,
  ownFile,
  route,
  rule,
  theirs,
} from '../../../test/fixtures/agent-samples.ts';
import type { RequestInterface } from '../../api/job.ts';
import type { Snapshot } from '../snapshot.ts';
import { emptyState } from '../state.ts';
import { planApply } from './plan.ts';

const [ens1, ens2] = [link(1), link(2)];

/** Reason and message for NIC 1; NIC 2 beside it is always configured. */
function refused(
  on: Partial<Snapshot>,
  wanted: Partial<RequestInterface> = {},
  links = [ens1, ens2],
) {
  const base = host(links, on);
  const { units, refused: nics } = planApply(input([entry(1, wanted), entry(2)], base));
  expect(units.map(({ nic }) => nic.mac)).toContain(macOf(2));
  const nic = nics.find(({ target }) => target.mac === (wanted.mac ?? macOf(1)));
  return nic ? `${nic.refusal.reason}: ${nic.refusal.message}` : 'accepted';
}

describe('accepted NICs', () => {
  test.each<[string, Partial<Snapshot>]>([
    ['fresh', {}],
    [
      'with kernel-made link-local state',
      {
        addresses: [address('ens1', 'fe80::1/64', { scope: 253 })],
        routes: [
          route('fe80::/64', 'ens1', { protocol: 2 }),
          route('ff00::/8', 'ens1', { protocol: 2, type: 5, table: 255 }),
        ],
      },
    ],
    [
      'beside foreign rules and tables',
      {
        rules: [rule('10.9.0.0/16', 200, 111), rule('10.9.0.1/32', 109, 10_050)],
        routes: [route('10.9.0.0/16', 'eth0', { table: 200 })],
      },
    ],
    [
      'beside a leftover legacy rule',
      { rules: [rule('10.3.0.1/32', 100, 32_765, { protocol: 3 })] },
    ],
    ['with its own rule left over', { rules: [rule('10.0.0.1/32', 100, 10_100)] }],
  ])('planApply accepts a NIC %s', (_, on) => {
    expect(refused(on)).toBe('accepted');
  });

  test("planApply accepts a NIC with the driver's maximum MTU", () => {
    expect(refused({}, { mtu: 9000 }, [link(1, { maxMtu: 9000 }), ens2])).toBe('accepted');
  });
});

describe('refused NICs', () => {
  test.each<[string, Partial<Snapshot>, string]>([
    [
      'with a default route',
      { routes: [route('0.0.0.0/0', 'ens1')] },
      'PrimaryNIC: ens1 has a default route in table 254',
    ],
    [
      'with a default route in a separate table',
      { routes: [route('0.0.0.0/0', 'ens1', { table: 200 })] },
      'NICInUse: ens1 has a foreign route to 0.0.0.0/0 in table 200',
    ],
    [
      "with a default route in a separate table for a Pod's traffic",
      {
        routes: [route('::/0', 'ens1', { table: 2007 })],
        rules: [rule('fd00:244::5/128', 2007, 111), rule('all', 2007, 112, { opaque: true })],
      },
      'NICInUse: ens1 has a foreign route to ::/0 in table 2007',
    ],
    [
      "with a default route in a table for all the node's traffic",
      {
        routes: [route('0.0.0.0/0', 'ens1', { table: 200 })],
        rules: [rule('all', 200, 111)],
      },
      'PrimaryNIC: ens1 has a default route in table 200',
    ],
    [
      'with a next-hop route marked protocol kernel, as set by Cilium',
      { routes: [route('10.244.7.0/24', 'ens1', { via: '10.0.0.12', protocol: 2 })] },
      'NICInUse: ens1 has a foreign route to 10.244.7.0/24',
    ],
    [
      'with an IPv6 next-hop route marked protocol kernel',
      { routes: [route('fd00:244::/64', 'ens1', { via: 'fe80::12', protocol: 2 })] },
      'NICInUse: ens1 has a foreign route to fd00:244::/64',
    ],
    [
      'in a multipath route marked protocol kernel',
      {
        routes: [
          route('10.244.8.0/24', 'ens1', { links: ['ens1', 'eth0'], protocol: 2, opaque: true }),
        ],
      },
      'NICInUse: ens1 has a foreign route to 10.244.8.0/24',
    ],
    [
      'with an IPv6 default route',
      { routes: [route('::/0', 'ens1', { protocol: 4 })] },
      'PrimaryNIC',
    ],
    [
      'with an announced IPv6 default route, not primary',
      { routes: [route('::/0', 'ens1', { protocol: 9 })] },
      'LeasedByHost: a router advertisement gave ens1 a route to ::/0',
    ],
    [
      'with an announced IPv6 address',
      { addresses: [address('ens1', 'fd00::77/64', { temporary: true })] },
      'LeasedByHost: a router advertisement gave ens1 the address fd00::77/64',
    ],
    [
      'in a multipath default route',
      { routes: [route('0.0.0.0/0', 'eth0', { links: ['eth0', 'ens1'] })] },
      'PrimaryNIC',
    ],
    [
      'with a foreign address',
      { addresses: [address('ens1', '10.7.0.1/24')] },
      'NICInUse: ens1 has the foreign address 10.7.0.1/24',
    ],
    [
      'with a global IPv6 address',
      { addresses: [address('ens1', '2001:db8::1/64')] },
      'NICInUse: ens1 has the foreign address 2001:db8::1/64',
    ],
    [
      'with a foreign route',
      { routes: [route('10.7.0.0/16', 'ens1')] },
      'NICInUse: ens1 has a foreign route to 10.7.0.0/16',
    ],
    [
      'with a route in its table',
      { routes: [route('10.7.0.0/16', 'ens1', { table: 100 })] },
      'NICInUse',
    ],
    [
      'whose table has a route',
      { routes: [route('10.7.0.0/16', 'eth0', { table: 100 })] },
      'TableInUse: table 100 has a foreign route to 10.7.0.0/16',
    ],
    [
      'whose table has a blackhole',
      { routes: [route('10.7.0.0/16', undefined, { table: 100, type: 6 })] },
      'TableInUse',
    ],
    [
      'whose priority is taken',
      { rules: [rule('10.9.0.1/32', 200, 10_100)] },
      'TableInUse: foreign rule 10100 from 10.9.0.1/32',
    ],
    [
      'whose table a foreign rule uses',
      { rules: [rule('all', 100, 50, { opaque: true })] },
      'TableInUse: foreign rule 50 from all',
    ],
    [
      'whose own rule has further selectors',
      { rules: [rule('10.0.0.1/32', 100, 10_100, { opaque: true })] },
      'TableInUse',
    ],
    [
      'whose address another NIC has',
      { addresses: [address('other0', '10.0.0.1/32')] },
      'NICInUse: address 10.0.0.1/32 is already on other0',
    ],
    [
      'that a foreign file configures',
      { files: [{ path: '/etc/netplan/50-x.yaml', text: '', mode: 0o600, macs: [macOf(1)] }] },
      'NICInUse: /etc/netplan/50-x.yaml configures the NIC',
    ],
    [
      'whose path is taken',
      { files: [{ path: '/etc/netplan/90-multinic0.yaml', text: '', mode: 0o600, macs: [] }] },
      'PersistFailed: /etc/netplan/90-multinic0.yaml',
    ],
    [
      'whose path an agent used for another MAC',
      { files: [ownFile(0, macOf(9), [])] },
      'PersistFailed',
    ],
  ])('[RW-40] planApply refuses a NIC %s', (_, on, words) => {
    expect(refused(on)).toContain(words);
  });

  test.each<[string, Partial<RequestInterface>, string]>([
    [
      "in the primary NIC's subnet",
      { addresses: ['10.200.9.9/24', '10.0.0.1/24'] },
      'SubnetOverlapsPrimary: 10.200.9.0/24 overlaps 10.200.0.0/16 of eth0',
    ],
    ["around the primary NIC's subnet", { addresses: ['10.0.0.1/8'] }, 'SubnetOverlapsPrimary'],
    [
      'absent from the host',
      { mac: macOf(7) },
      `WaitingForNIC: no link has the MAC ${macOf(7)} yet`,
    ],
    ['with an invalid gateway', { gateway: '10.9.9.9' }, 'InvalidEntry: gateway 10.9.9.9'],
  ])('planApply refuses a NIC %s', (_, wanted, words) => {
    expect(refused({}, wanted)).toContain(words);
  });

  test('planApply refuses a NIC with a Node address in any notation', () => {
    const on = host([ens1], { addresses: [address('ens1', '2001:db8:0:0::1/64')] });
    const { request } = input([entry(1)], on);
    const jobRequest = { ...request, protectedAddresses: ['2001:0db8::1'] };
    const [nic] = planApply({ ...input([entry(1)], on), request: jobRequest }).refused;
    expect(nic?.refusal.reason).toBe('PrimaryNIC');
  });

  test('planApply refuses a subnet around the Node address, even if no link has the address', () => {
    const { request, ...rest } = input([entry(1)], host([ens1]));
    const jobRequest = { ...request, protectedAddresses: ['10.0.0.77'] };
    const [nic] = planApply({ ...rest, request: jobRequest }).refused;
    expect(nic?.refusal).toMatchObject({ reason: 'SubnetOverlapsPrimary' });
  });

  test.each([
    [
      'as a member of a bond',
      [link(1, { master: 'bond0' })],
      'NICInUse: ens1 is a member of bond0',
    ],
    [
      'below a vlan',
      [ens1, link(5, { name: 'ens1.7', mac: macOf(1), kind: 'vlan', lower: 'ens1' })],
      'NICInUse: ens1 is the parent link of ens1.7',
    ],
    [
      'with a twin',
      [ens1, link(5, { mac: macOf(1) })],
      `DuplicateMAC: links ens1 and ens5 have the same MAC ${macOf(1)}`,
    ],
    [
      'with too small a maximum MTU',
      [link(1, { maxMtu: 1400 })],
      'InvalidEntry: mtu 1450 exceeds 1400',
    ],
    ['with a name that splits a line', [link(1, { name: 'a"b' })], 'NICInUse'],
    [
      'whose name belongs to another NIC',
      [ens1, link(5, { name: 'multinic0' })],
      `NICInUse: the name multinic0 is in use by the link with MAC ${macOf(5)}`,
    ],
    [
      "whose name is another NIC's alternative name",
      [ens1, link(5, { altNames: ['multinic0'] })],
      'NICInUse: the name multinic0',
    ],
  ])('planApply refuses a NIC %s', (_, links, words) => {
    expect(refused({}, {}, [...links, ens2])).toContain(words);
  });

  test('planApply refuses a name held as alternative name by a NIC being renamed', () => {
    const words = refused({}, {}, [ens1, link(2, { altNames: ['multinic0'] })]);
    expect(words).toContain('NICInUse: the name multinic0');
  });

  test("a bridge with the NIC's MAC is not the NIC: the refusal names the membership", () => {
    const borrowed = link(5, { name: 'br0', kind: 'bridge', mac: macOf(1) });
    const words = refused({}, {}, [link(1, { master: 'br0' }), borrowed, ens2]);
    expect(words).toBe('NICInUse: ens1 is a member of br0');
  });
});

const leasedRoute = (metric: number) =>
  route('0.0.0.0/0', 'ens1', { via: '10.0.0.254', protocol: 16, metric });

describe('NICs leased by the host', () => {
  const leasedAddress = address('ens1', '10.0.0.1/24', { temporary: true });
  test('[RW-16] a leased NIC is refused as LeasedByHost while another link has the preferred default route', () => {
    expect(alone({ addresses: [leasedAddress], routes: [leasedRoute(100)] })).toBe(
      "LeasedByHost: the host's DHCP gave ens1 the address 10.0.0.1/24",
    );
  });

  test('a leased NIC with an IPv6 default route is refused as LeasedByHost', () => {
    const routes = [route('::/0', 'ens1', { protocol: 9 })];
    expect(alone({ addresses: [leasedAddress], routes })).toMatch(/^LeasedByHost/);
  });

  test('a leased NIC with a default route in another table is refused as LeasedByHost', () => {
    const routes = [{ ...leasedRoute(0), table: 200 }];
    expect(alone({ addresses: [leasedAddress], routes })).toMatch(/^LeasedByHost/);
  });

  test('a NIC with only a leased route is refused as LeasedByHost', () => {
    const words = "LeasedByHost: the host's DHCP gave ens1 a route to 0.0.0.0/0";
    expect(alone({ routes: [leasedRoute(100)] })).toBe(words);
  });

  test('a leased default route makes no NIC primary beside a link with the Node address', () => {
    const on = { addresses: [leasedAddress], routes: [leasedRoute(0)] };
    expect(alone(on)).toMatch(/^LeasedByHost/);
  });

  test("a leased NIC with the node's only default route is refused as PrimaryNIC", () => {
    const leased = { addresses: [leasedAddress], routes: [leasedRoute(0)] };
    const on = { ...host([ens1], leased), routes: leased.routes };
    const [nic] = planApply(input([entry(1)], on)).refused;
    expect(nic?.refusal.reason).toBe('PrimaryNIC');
  });

  test('a leased NIC with a Node address is refused as PrimaryNIC', () => {
    const on = { addresses: [address('ens1', '10.200.0.2/16', { temporary: true })] };
    expect(alone(on)).toMatch(/^PrimaryNIC/);
  });
});

describe('routes with unknown links', () => {
  test.each<[string, Partial<Snapshot>, RegExp]>([
    [
      'may be in the default route',
      { routes: [route('0.0.0.0/0', undefined, { anyLink: true })] },
      /^PrimaryNIC: ens1 may be in the nexthop group of the default route in table 254/,
    ],
    [
      'may be in a foreign route',
      { routes: [route('10.7.0.0/16', undefined, { anyLink: true })] },
      /^NICInUse: ens1 may be in the nexthop group of the foreign route to 10.7.0.0\/16 in table 254/,
    ],
  ])('planApply refuses a NIC: %s', (_, on, words) => {
    expect(alone(on)).toMatch(words);
  });
});

/** Refusal reasons for a managed NIC with the requested address. */
function ofOurs(on: Partial<Snapshot>) {
  const record = {
    mac: macOf(1),
    index: 0,
    originalName: 'ens1',
    addresses: ['10.0.0.1/24'],
    table: 100,
    priority: 10_100,
    files: [],
  };
  const now = host([link(1, { name: 'multinic0', up: true })], on);
  const { refused: nics } = planApply(input([entry(1)], now, { ...emptyState, nics: [record] }));
  return nics.map(({ refusal }) => refusal.reason);
}

describe('managed NICs and refusals', () => {
  test('a managed NIC is not leased if its own address got a lifetime', () => {
    const own = address('multinic0', '10.0.0.1/24', { temporary: true });
    expect(ofOurs({ addresses: [own] })).toEqual([]);
  });

  test.each<[string, Partial<Snapshot>, string]>([
    [
      'its address has a peer',
      { addresses: [address('multinic0', '10.0.0.1/24', { opaque: true })] },
      'NICInUse',
    ],
    [
      'its table has a blackhole route on the link',
      { routes: [route('10.9.0.0/24', 'multinic0', { table: 100, type: 6 })] },
      'NICInUse',
    ],
    [
      'its table has a route the agent cannot restore',
      { routes: [route('10.9.0.0/24', 'multinic0', { table: 100, opaque: true })] },
      'TableInUse',
    ],
  ])('a managed NIC is refused while %s', (_, on, reason) => {
    expect(ofOurs(on)).toEqual([reason]);
  });

  test('a managed NIC is accepted beside an unreadable file', () => {
    expect(ofOurs(theirs({ unread: 'EACCES' }))).toEqual([]);
  });

  test('a managed NIC is accepted beside a catch-all file, which our file precedes', () => {
    expect(ofOurs(theirs({ leases: ['*'] }))).toEqual([]);
  });

  test('a managed NIC is refused while a foreign file uses its original name', () => {
    expect(ofOurs(theirs({ names: ['ens1'] }))).toEqual(['NICInUse']);
  });
});
