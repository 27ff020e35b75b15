import { describe, expect, test } from 'vitest';
import {
  address,
  host,
  link,
  macOf,
  neighbour,
  route,
  rule,
} from '../../../test/fixtures/agent-samples.ts';
import type { HostFile, Snapshot } from '../snapshot.ts';
import {
  entrustedTo,
  type ForeignLoss,
  type ForeignView,
  foreignLossesBetween,
  withEntrusted,
} from './foreign.ts';
import { batchLine } from './operation.ts';

const nic = {
  mac: macOf(1),
  belongings: {
    tables: [100],
    ips: ['10.0.0.1'],
    routes: ['10.7.0.0/16 table 254 metric 9'],
    rules: ['10.0.0.1 table 100'],
  },
};
const nics = [nic];

/** Kernel state before and after adoption; both links also carry foreign state. */
const before = host([link(1, { up: true })], {
  addresses: [address('ens1', 'fe80::1/64', { scope: 253 })],
  routes: [
    route('10.9.0.0/16', 'eth0'),
    route('10.8.0.0/16', 'ens1', { protocol: 2, scope: 253 }),
    route('fe80::/64', 'ens1', { protocol: 2, metric: 256 }),
  ],
  rules: [rule('10.244.0.0/16', 200, 111)],
});
const after = host([link(1, { name: 'multinic0', up: true })], {
  addresses: [address('multinic0', '10.0.0.1/24')],
  routes: [
    route('10.9.0.0/16', 'eth0'),
    route('10.8.0.0/16', 'multinic0', { protocol: 2, scope: 253 }),
    route('0.0.0.0/0', 'multinic0', { table: 100 }),
  ],
  rules: [rule('10.244.0.0/16', 200, 111), rule('10.0.0.1/32', 100, 10_100)],
});

const view = (kernel: Snapshot, more: Partial<ForeignView> = {}): ForeignView => ({
  kernel,
  settings: new Map(),
  files: [],
  ...more,
});
const file = (path: string, text: string, mode = 0o600): HostFile => ({ path, text, mode });
const words = (losses: readonly ForeignLoss[]) => losses.map(({ what }) => what);
const lost = (was: Snapshot, is: Snapshot) =>
  words(foreignLossesBetween(view(was), view(is), nics));

describe('foreign losses', () => {
  test('adopting, renaming or releasing a NIC causes no foreign loss', () => {
    expect(lost(before, after)).toEqual([]);
    expect(lost(after, before)).toEqual([]);
  });

  test('a route the kernel derives from a managed address is no foreign loss', () => {
    const addresses = [...after.addresses, address('multinic0', '10.8.0.1/16')];
    expect(lost(before, { ...after, addresses })).toEqual([]);
  });

  test('a lost route on a managed NIC is restorable under the current link name', () => {
    const routes = after.routes.filter(({ to }) => to !== '10.8.0.0/16');
    const [loss, ...more] = foreignLossesBetween(view(before), view({ ...after, routes }), nics);
    expect(more).toEqual([]);
    expect(loss?.what).toBe(`route 10.8.0.0/16 dev ${macOf(1)} table 254 metric 0`);
    expect(loss?.again?.mac).toBe(macOf(1));
    const operation = loss?.again?.on('multinic0');
    expect(operation && batchLine(operation)).toBe(
      'route replace 10.8.0.0/16 dev multinic0 table 254 proto 2 scope 253',
    );
  });

  test('a lost address on a managed NIC is restorable unless it would expire', () => {
    const had = [
      address('ens1', '10.3.0.1/24'),
      address('ens1', '10.4.0.1/24', { temporary: true }),
    ];
    const was = { ...before, addresses: [...before.addresses, ...had] };
    const losses = foreignLossesBetween(view(was), view(after), nics);
    expect(losses.map(({ what, again }) => [what, again && batchLine(again.on('m'))])).toEqual([
      [`address 10.3.0.1/24 of ${macOf(1)}`, 'addr replace 10.3.0.1/24 dev m'],
      [`address 10.4.0.1/24 of ${macOf(1)}`, undefined],
    ]);
  });

  test('a loss on a foreign link, or with unknown attributes, has no restoring operation', () => {
    const opaque = route('10.6.0.0/16', 'ens1', { protocol: 2, opaque: true });
    const was = { ...before, routes: [...before.routes, opaque] };
    const is = { ...after, routes: after.routes.filter(({ to }) => to !== '10.9.0.0/16') };
    expect(foreignLossesBetween(view(was), view(is), nics).map(({ again }) => again)).toEqual([
      undefined,
      undefined,
    ]);
  });

  test('a foreign route still present is no loss, though the NIC now has an address in the network', () => {
    const theirs = route('10.0.0.0/24', 'ens1', { table: 200, protocol: 2, scope: 253 });
    const ours = route('10.0.0.0/24', 'multinic0', { table: 200, protocol: 2, scope: 253 });
    const [was, is] = [before, after].map((kernel, at) => ({
      ...kernel,
      routes: [...kernel.routes, at === 0 ? theirs : ours],
    }));
    expect(lost(was as Snapshot, is as Snapshot)).toEqual([]);
  });

  test("a lost foreign route to the NIC's own network is reported in another table", () => {
    const theirs = route('10.0.0.0/24', 'multinic0', { table: 200, protocol: 2, scope: 253 });
    expect(lost({ ...after, routes: [...after.routes, theirs] }, before)).toEqual([
      `route 10.0.0.0/24 dev ${macOf(1)} table 200 metric 0`,
    ]);
  });

  test("lost routes are restored with the gateway's on-link route first", () => {
    const behind = route('10.5.0.0/16', 'ens1', { protocol: 2, via: '10.8.0.1' });
    const was = { ...before, routes: [behind, ...before.routes] };
    const none = { ...after, routes: [] };
    const again = foreignLossesBetween(view(was), view(none), nics).flatMap((loss) => {
      const operation = loss.again?.on('m');
      return operation ? [batchLine(operation)] : [];
    });
    expect(again).toEqual([
      'route replace 10.8.0.0/16 dev m table 254 proto 2 scope 253',
      'route replace 10.5.0.0/16 via 10.8.0.1 dev m table 254 proto 2 scope 0',
    ]);
  });

  test('a lost address with link scope is reported without a restoring operation', () => {
    const local = address('ens1', '169.254.7.7/32', { scope: 253 });
    const was = { ...before, addresses: [...before.addresses, local] };
    expect(foreignLossesBetween(view(was), view(after), nics)).toEqual([
      { what: `address 169.254.7.7/32 of ${macOf(1)}` },
    ]);
  });

  test('a rule present twice and now once is a loss', () => {
    const twice = { ...before, rules: [...before.rules, ...before.rules] };
    expect(lost(twice, after)).toEqual(['rule 111 of IPv4 from 10.244.0.0/16 lookup 200 proto 4']);
  });

  test('a lost link is reported without the state on it', () => {
    const veth = link(7, { name: 'veth7', kind: 'veth', up: true });
    const was = {
      ...before,
      links: [...before.links, veth],
      addresses: [...before.addresses, address('veth7', '10.1.0.1/32')],
      routes: [...before.routes, route('10.1.0.2/32', 'veth7')],
    };
    expect(lost(was, after)).toEqual(['link veth7']);
  });

  test('a link gone down is a loss', () => {
    const links = after.links.map((each) => (each.name === 'eth0' ? { ...each, up: false } : each));
    expect(lost(before, { ...after, links })).toEqual(['link eth0 up']);
  });

  test('ICMP redirects and local-table routes are no loss', () => {
    const transient = [
      route('10.1.0.1/32', 'eth0', { protocol: 1 }),
      route('10.200.0.2/32', 'eth0', { table: 255, protocol: 2 }),
    ];
    expect(lost({ ...before, routes: [...before.routes, ...transient] }, after)).toEqual([]);
  });

  test('a changed setting on an existing link is a loss', () => {
    const settings = new Map([
      ['eth0', { 'ipv4.rp_filter': '1', 'ipv4.arp_ignore': '0' }],
      ['eth1', { 'ipv4.rp_filter': '1' }],
    ]);
    const now = new Map([
      ['eth0', { 'ipv4.rp_filter': '2', 'ipv4.arp_ignore': '0' }],
      ['eth1', {}],
    ]);
    const losses = foreignLossesBetween(
      view(before, { settings }),
      view(after, { settings: now }),
      nics,
    );
    expect(words(losses)).toEqual(['net.ipv4.conf.eth0.rp_filter = 1']);
  });

  test('a setting the link lacked before is no loss', () => {
    const settings = new Map([['eth0', { 'ipv4.rp_filter': '1' }]]);
    const now = new Map([['eth0', { 'ipv4.rp_filter': '1', 'ipv6.accept_ra': '1' }]]);
    expect(
      foreignLossesBetween(view(before, { settings }), view(after, { settings: now }), nics),
    ).toEqual([]);
  });

  test('a deleted or modified foreign file is a loss', () => {
    const losses = foreignLossesBetween(
      view(before, { files: [file('/a', 'a'), file('/b', 'b'), file('/c', 'c'), file('/d', 'd')] }),
      view(after, { files: [file('/a', 'a'), file('/b', 'B'), file('/c', 'c', 0o644)] }),
      nics,
    );
    expect(words(losses)).toEqual(['file /b', 'file /c', 'file /d']);
  });
});

const renamed = (name: string): string => (name === 'ens1' ? 'multinic0' : name);

describe("foreign state at risk from a NIC's change", () => {
  const byOurAddress = route('10.5.0.0/16', 'eth0', { src: '10.0.0.1' });
  const theirs = route('10.8.0.0/16', 'ens1', { protocol: 2, scope: 253, metric: 7 });
  const lasting = address('ens1', '10.9.9.9/32');
  const kernel = host([link(1)], {
    addresses: [
      address('ens1', '10.0.0.1/24'),
      lasting,
      address('ens1', 'fe80::1/64', { scope: 253 }),
    ],
    routes: [
      theirs,
      byOurAddress,
      route('10.9.0.0/16', 'eth0'),
      route('0.0.0.0/0', 'ens1', { table: 100 }),
      route('10.0.0.0/24', 'ens1', { protocol: 2, scope: 253 }),
      route('ff00::/8', 'ens1', { table: 255 }),
    ],
    neighbours: [neighbour('ens1', '10.8.0.9'), neighbour('eth0', '10.200.0.9')],
  });
  const had = entrustedTo(nic, kernel);

  test('entrustedTo returns state on the link or using a managed address, without routes derived from addresses', () => {
    const neighbours = [neighbour('ens1', '10.8.0.9')];
    expect(had).toEqual({ addresses: [lasting], routes: [theirs, byOurAddress], neighbours });
  });

  test('entrustedTo returns nothing for a rules-only NIC', () => {
    const none = { addresses: [], routes: [], neighbours: [] };
    expect(entrustedTo({ ...nic, rulesOnly: true }, kernel)).toEqual(none);
  });

  test('withEntrusted uses current link names and marks addresses and neighbours as report-only', () => {
    const bare = host([link(1, { name: 'multinic0' })], { addresses: [], routes: [] });
    const { addresses, routes, neighbours } = withEntrusted(bare, had, renamed);
    const reported = { ...lasting, link: 'multinic0', opaque: true };
    expect(addresses).toEqual([...bare.addresses, reported]);
    expect(routes).toEqual([...bare.routes, { ...theirs, links: ['multinic0'] }, byOurAddress]);
    expect(neighbours).toEqual([neighbour('multinic0', '10.8.0.9', { opaque: true })]);
  });

  test('withEntrusted adds no duplicates, and marks entries with an occupied slot as report-only', () => {
    const other = route('10.8.0.0/16', 'eth0', { metric: 7 });
    const moved = neighbour('ens1', '10.8.0.9', { mac: macOf(9) });
    const now = host([link(1)], {
      addresses: [lasting],
      routes: [byOurAddress, other],
      neighbours: [moved],
    });
    const { addresses, routes, neighbours } = withEntrusted(now, had, (name) => name);
    expect(addresses).toEqual(now.addresses);
    expect(routes).toEqual([...now.routes, { ...theirs, opaque: true }]);
    expect(neighbours).toEqual([moved, neighbour('ens1', '10.8.0.9', { opaque: true })]);
  });
});
