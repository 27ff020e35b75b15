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

/** The NIC before it is ours, and after that; others have something on both links. */
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

describe('what others have lost', () => {
  test('is nothing when a NIC becomes ours, under another name, or leaves again', () => {
    expect(lost(before, after)).toEqual([]);
    expect(lost(after, before)).toEqual([]);
  });

  test('is no route that an address of ours has since, which the kernel would have made from it', () => {
    const addresses = [...after.addresses, address('multinic0', '10.8.0.1/16')];
    expect(lost(before, { ...after, addresses })).toEqual([]);
  });

  test('is a route on a NIC of ours, with what makes it again under the name of now', () => {
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

  test('is an address on a NIC of ours, but for those that expire by themselves', () => {
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

  test('is no operation where it is on a link of others, or more than the agent knows', () => {
    const opaque = route('10.6.0.0/16', 'ens1', { protocol: 2, opaque: true });
    const was = { ...before, routes: [...before.routes, opaque] };
    const is = { ...after, routes: after.routes.filter(({ to }) => to !== '10.9.0.0/16') };
    expect(foreignLossesBetween(view(was), view(is), nics).map(({ again }) => again)).toEqual([
      undefined,
      undefined,
    ]);
  });

  test('is nothing that is still there, though the NIC has an address of that network now', () => {
    const theirs = route('10.0.0.0/24', 'ens1', { table: 200, protocol: 2, scope: 253 });
    const ours = route('10.0.0.0/24', 'multinic0', { table: 200, protocol: 2, scope: 253 });
    const [was, is] = [before, after].map((kernel, at) => ({
      ...kernel,
      routes: [...kernel.routes, at === 0 ? theirs : ours],
    }));
    expect(lost(was as Snapshot, is as Snapshot)).toEqual([]);
  });

  test('is a route to a network that the NIC has an address of, in a table of others', () => {
    const theirs = route('10.0.0.0/24', 'multinic0', { table: 200, protocol: 2, scope: 253 });
    expect(lost({ ...after, routes: [...after.routes, theirs] }, before)).toEqual([
      `route 10.0.0.0/24 dev ${macOf(1)} table 200 metric 0`,
    ]);
  });

  test('is made again in an order in which it can be: what a gateway is on comes first', () => {
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

  test('is no address that would come again as another one', () => {
    const local = address('ens1', '169.254.7.7/32', { scope: 253 });
    const was = { ...before, addresses: [...before.addresses, local] };
    expect(foreignLossesBetween(view(was), view(after), nics)).toEqual([
      { what: `address 169.254.7.7/32 of ${macOf(1)}` },
    ]);
  });

  test('is a rule that was there twice and is there once', () => {
    const twice = { ...before, rules: [...before.rules, ...before.rules] };
    expect(lost(twice, after)).toEqual(['rule 111 of IPv4 from 10.244.0.0/16 lookup 200 proto 4']);
  });

  test('is a link, and not also what was on it', () => {
    const veth = link(7, { name: 'veth7', kind: 'veth', up: true });
    const was = {
      ...before,
      links: [...before.links, veth],
      addresses: [...before.addresses, address('veth7', '10.1.0.1/32')],
      routes: [...before.routes, route('10.1.0.2/32', 'veth7')],
    };
    expect(lost(was, after)).toEqual(['link veth7']);
  });

  test('is that a link is up', () => {
    const links = after.links.map((each) => (each.name === 'eth0' ? { ...each, up: false } : each));
    expect(lost(before, { ...after, links })).toEqual(['link eth0 up']);
  });

  test('is no redirect, and nothing of the table that the kernel keeps for itself', () => {
    const transient = [
      route('10.1.0.1/32', 'eth0', { protocol: 1 }),
      route('10.200.0.2/32', 'eth0', { table: 255, protocol: 2 }),
    ];
    expect(lost({ ...before, routes: [...before.routes, ...transient] }, after)).toEqual([]);
  });

  test('is a setting of a link that is still there', () => {
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

  test('is no setting that the link did not have, as one without IPv6', () => {
    const settings = new Map([['eth0', { 'ipv4.rp_filter': '1' }]]);
    const now = new Map([['eth0', { 'ipv4.rp_filter': '1', 'ipv6.accept_ra': '1' }]]);
    expect(
      foreignLossesBetween(view(before, { settings }), view(after, { settings: now }), nics),
    ).toEqual([]);
  });

  test('is a file that is gone or another one', () => {
    const losses = foreignLossesBetween(
      view(before, { files: [file('/a', 'a'), file('/b', 'b'), file('/c', 'c'), file('/d', 'd')] }),
      view(after, { files: [file('/a', 'a'), file('/b', 'B'), file('/c', 'c', 0o644)] }),
      nics,
    );
    expect(words(losses)).toEqual(['file /b', 'file /c', 'file /d']);
  });
});

const renamed = (name: string): string => (name === 'ens1' ? 'multinic0' : name);

describe('what others entrust to a NIC', () => {
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

  test('is on its link, or stands on an address of ours; what is made of addresses is not in it', () => {
    const neighbours = [neighbour('ens1', '10.8.0.9')];
    expect(had).toEqual({ addresses: [lasting], routes: [theirs, byOurAddress], neighbours });
  });

  test('is nothing to one of which rules alone are to go', () => {
    const none = { addresses: [], routes: [], neighbours: [] };
    expect(entrustedTo({ ...nic, rulesOnly: true }, kernel)).toEqual(none);
  });

  test('comes under the name that the link has by now, addresses and neighbours to be told of alone', () => {
    const bare = host([link(1, { name: 'multinic0' })], { addresses: [], routes: [] });
    const { addresses, routes, neighbours } = withEntrusted(bare, had, renamed);
    const told = { ...lasting, link: 'multinic0', opaque: true };
    expect(addresses).toEqual([...bare.addresses, told]);
    expect(routes).toEqual([...bare.routes, { ...theirs, links: ['multinic0'] }, byOurAddress]);
    expect(neighbours).toEqual([neighbour('multinic0', '10.8.0.9', { opaque: true })]);
  });

  test('is not there twice, and is not put where another route or neighbour is', () => {
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
