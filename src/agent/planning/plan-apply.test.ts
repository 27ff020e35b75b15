import { describe, expect, test } from 'vitest';
import {
  address,
  entry,
  host,
  input,
  link,
  macOf,
  ownFile,
  route,
} from '../../../test/fixtures/agent-samples.ts';
import { ifcfg } from '../backends/ifcfg.ts';
import { netplan } from '../backends/netplan.ts';
import type { Snapshot } from '../snapshot.ts';
import { type AgentState, emptyState, type NicRecord } from '../state.ts';
import { desiredNic } from './desired.ts';
import { batchLine } from './operation.ts';
import { planApply } from './plan.ts';
import { inOrder, isDone, planText } from './unit.ts';

function record(n: number, index: number): NicRecord {
  return {
    mac: macOf(n),
    index,
    originalName: `ens${n}`,
    addresses: [`10.0.0.${n}/24`],
    table: 100 + index,
    priority: 10_100 + index,
    files: [],
  };
}

function stateWith(...nics: NicRecord[]): AgentState {
  return { ...emptyState, nics };
}

describe('a NIC that was unplugged and is plugged again', () => {
  const held = [{ mac: macOf(1), index: 0, addresses: ['10.0.0.9/24'] }];
  const on = host([link(1, { name: 'multinic0', up: true })], {
    held,
    addresses: [address('multinic0', '10.0.0.9/24')],
    routes: [route('10.0.0.0/24', 'multinic0', { table: 100, protocol: 4, src: '10.0.0.9' })],
    rules: [
      { family: 4, from: '10.0.0.9/32', table: 100, priority: 10_100, protocol: 4, opaque: false },
    ],
  });

  test('loses what the network manager still held of it and set, and that is remembered', () => {
    const { units, refused } = planApply(input([entry(1)], on));
    expect(refused).toEqual([]);
    const lines = units.flatMap(({ change }) => change.operations.map(batchLine));
    expect(lines).toContain('addr del 10.0.0.9/24 dev multinic0');
    expect(lines).toContain('rule del from 10.0.0.9/32 table 100 priority 10100 protocol 4');
    const [unit] = units;
    expect(unit?.record?.boot).toEqual({
      bootId: 'boot-1',
      addresses: ['10.0.0.9/24'],
      setUp: 11,
    });
    expect(unit?.nic.belongings.ips).toContain('10.0.0.9');
  });
});

function configuredHost(): Snapshot {
  const nic = link(1, { name: 'multinic0', up: true, mtu: 1450, addressMode: 'none' });
  const desired = desiredNic(entry(1), 0, nic, []);
  const { path, text } = netplan.render(desired).main;
  return host([nic], {
    addresses: [
      {
        link: 'multinic0',
        family: 4,
        cidr: '10.0.0.1/24',
        scope: 0,
        broadcast: '10.0.0.255',
        noPrefixRoute: false,
        opaque: false,
      },
    ],
    routes: desired.routes.map((wanted) => ({
      ...wanted,
      family: 4,
      type: 1,
      links: ['multinic0'],
      opaque: false,
    })),
    rules: desired.rules.map((rule) => ({ family: 4, ...rule, opaque: false })),
    settings: new Map([['multinic0', { 'ipv6.accept_ra': '0' }]]),
    files: [
      {
        path,
        text,
        mode: 0o600,
        own: { mac: macOf(1), index: 0, addresses: ['10.0.0.1/24'] },
        macs: [macOf(1)],
      },
    ],
  });
}

/** It has a macvlan, an address and routes that are not ours. */
function usedHost(): Snapshot {
  const on = configuredHost();
  const upper = link(7, { name: 'macvlan7', kind: 'macvlan', lower: 'multinic0' });
  return {
    ...on,
    links: [...on.links, upper],
    addresses: [...on.addresses, address('multinic0', '10.0.0.99/32')],
    routes: [
      ...on.routes,
      route('10.60.0.0/16', 'multinic0'),
      route('0.0.0.0/0', 'multinic0', { via: '10.0.0.254', table: 2007 }),
      route('10.244.7.0/24', 'multinic0', { via: '10.0.0.12', protocol: 2 }),
    ],
  };
}

const holder = (more: object) => link(8, { name: 'kube-ipvs0', ...more });

const planned = (on: Snapshot, other: ReturnType<typeof link>) => {
  const addresses = [...on.addresses, address('kube-ipvs0', '10.0.0.1/32')];
  const both = { ...on, links: [...on.links, other], addresses };
  const { units, refused } = planApply(input([entry(1)], both, stateWith(record(1, 0))));
  return [units.map(isDone), refused.map(({ refusal }) => refusal.reason)];
};

describe('the plan', () => {
  test('remembers what a new NIC was before it was ours', () => {
    const { units } = planApply(input([entry(1)], host([link(1)])));
    expect(units[0]?.record).toMatchObject({
      mac: macOf(1),
      index: 0,
      originalName: 'ens1',
      addresses: ['10.0.0.1/24'],
      table: 100,
      priority: 10_100,
      files: [{ path: '/etc/netplan/90-multinic0.yaml' }],
    });
  });

  test('lists every address, route and rule that it sets', () => {
    const routes = [{ to: '10.9.0.0/16', via: '10.0.0.254', metric: 7 }];
    const owned = [
      entry(1, { routing: 'main', gateway: undefined, routes }),
      entry(1, { addresses: ['10.0.0.1/24', 'fd00::1/64'] }),
    ].map((asked) => planApply(input([asked], host([link(1)]))).units[0]?.record?.owned);
    expect(owned).toMatchObject([
      { tables: [100], ips: ['10.0.0.1'], routes: ['10.9.0.0/16 table 254 metric 7'] },
      { ips: ['10.0.0.1', 'fd00::1'], rules: ['10.0.0.1 table 100', 'fd00::1 table 100'] },
    ]);
  });

  test('of a NIC that is as it shall be has nothing to do', () => {
    const { units, refused } = planApply(
      input([entry(1)], configuredHost(), stateWith(record(1, 0))),
    );
    expect(refused).toEqual([]);
    expect(units.map(isDone)).toEqual([true]);
    expect(planText({ units, refused })).toBe(`multinic0 ${macOf(1)}: as it shall be\n`);
  });

  test('[RW-35] writes a file again that others can read', () => {
    const on = configuredHost();
    const open = { ...on, files: on.files.map((file) => ({ ...file, mode: 0o644 })) };
    const [unit] = planApply(input([entry(1)], open, stateWith(record(1, 0)))).units;
    expect(unit?.files).toMatchObject({ commit: { changed: true } });
    expect(unit?.change.operations).toEqual([]);
  });

  describe('of a NIC of ours that others have come to use', () => {
    const state = stateWith(record(1, 0));

    test('has nothing to do while it is as it shall be', () => {
      const { units, refused } = planApply(input([entry(1)], usedHost(), state));
      expect([units.map(isDone), refused]).toEqual([[true], []]);
    });

    test('refuses to change it', () => {
      const { units, refused } = planApply(input([entry(1, { mtu: 1400 })], usedHost(), state));
      expect(units).toEqual([]);
      expect(refused).toMatchObject([{ name: 'multinic0', refusal: { reason: 'NICInUse' } }]);
    });
  });

  describe('of a NIC whose address another link has, too', () => {
    test.each([
      ['a dummy', { kind: 'dummy', up: true }],
      ['a link that is down', { kind: 'bridge' }],
      ['a link without ARP', { kind: 'ipip', up: true, noArp: true }],
    ])('has nothing to do while %s has it, to which no neighbour speaks', (_, more) => {
      expect(planned(configuredHost(), holder(more))).toEqual([[true], []]);
    });

    test('is refused while the other link answers for it', () => {
      expect(planned(configuredHost(), holder({ up: true }))).toEqual([[], ['NICInUse']]);
    });

    test('is refused while the NIC does not have it yet', () => {
      const fresh = host([link(1, { name: 'multinic0' })]);
      expect(planned(fresh, holder({ kind: 'dummy' }))).toEqual([[], ['NICInUse']]);
    });
  });

  test('remembers what a NIC was before it was ours, however often it is changed', () => {
    const was = { originalName: 'enp9', original: { mtu: 9000, up: true, settings: {} } };
    const state = stateWith({ ...record(1, 0), ...was });
    const { units } = planApply(input([entry(1, { mtu: 1400 })], configuredHost(), state));
    expect(units[0]?.record).toMatchObject(was);
    // Settings that an earlier version did not set are as they were until now.
    expect(units[0]?.record?.original?.settings).toEqual({ 'ipv6.accept_ra': '0' });
  });

  test('goes around a NIC of ours that is not asked for: its index, and its part of the subnet', () => {
    const kept = link(2, { name: 'multinic0', up: true });
    const on = host([link(1), kept], { addresses: [address('multinic0', '10.0.0.2/24')] });
    const { units, refused } = planApply(input([entry(1)], on, stateWith(record(2, 0))));
    expect(refused).toEqual([]);
    expect(units.map(({ index }) => index)).toEqual([1]);
  });

  test('goes around the route in main of a NIC of ours that is not asked for', () => {
    const to = '10.0.0.0/16';
    const on = host([link(1), link(2, { name: 'multinic0', up: true })], {
      routes: [route(to, 'multinic0', { metric: 100, protocol: 4 })],
    });
    const owner = { ...record(2, 0), addresses: ['10.9.0.2/24'] };
    const asked = input([entry(1, { index: 1 })], on, stateWith(owner));
    expect(planApply(asked).refused).toMatchObject([
      { refusal: { reason: 'SubnetOverlapsForeign' } },
    ]);
    const routed = { ...owner, routes: [{ to, table: 254, metric: 100 }] };
    expect(planApply({ ...asked, state: stateWith(routed) }).refused).toEqual([]);
  });

  test('gives nobody the index of a NIC whose entry is invalid', () => {
    const invalid = entry(2, { index: 5, gateway: '10.9.9.9' });
    const on = host([link(2, { name: 'multinic1' }), link(3)]);
    const asked = [invalid, entry(3, { index: 1 })];
    const { units } = planApply(input(asked, on, stateWith(record(2, 1))));
    expect(units.map(({ index }) => index)).toEqual([0]);
  });

  test('leaves an old file of a NIC to the NIC that takes its path', () => {
    const nics = [link(1, { name: 'multinic0' }), link(2)];
    const on = host(nics, { files: [ownFile(0, macOf(1), []), ownFile(1, macOf(1), [])] });
    const { units } = planApply(input([entry(1), entry(2)], on, stateWith(record(1, 0))));
    expect(units.map(({ files }) => inOrder(files).map(({ path }) => path))).toEqual([
      ['/etc/netplan/90-multinic0.yaml'],
      ['/etc/netplan/91-multinic1.yaml'],
    ]);
  });

  test('swaps two of our own names by way of a third', () => {
    const on = host([link(1, { name: 'multinic1' }), link(2, { name: 'multinic0' })]);
    const { units } = planApply(
      input([entry(1), entry(2)], on, stateWith(record(1, 0), record(2, 1))),
    );
    const lines = units.map(({ change }) =>
      [...(change.eviction ? [change.eviction] : []), ...change.operations]
        .filter(({ kind }) => kind === 'link.rename')
        .map(batchLine),
    );
    expect(lines).toEqual([
      ['link set dev multinic1 name mntmp11', 'link set dev mntmp11 name multinic0'],
      ['link set dev multinic0 name mntmp12', 'link set dev mntmp12 name multinic1'],
    ]);
  });

  test('refuses a NIC whose name a refused one keeps', () => {
    const on = host([
      link(1, { name: 'multinic1' }),
      link(2, { name: 'multinic0', master: 'br0' }),
    ]);
    const { units, refused } = planApply(
      input([entry(1), entry(2)], on, stateWith(record(1, 0), record(2, 1))),
    );
    expect(units).toEqual([]);
    expect(refused.map(({ target, refusal }) => [target.mac, refusal.reason])).toEqual([
      [macOf(2), 'NICInUse'],
      [macOf(1), 'NICInUse'],
    ]);
  });

  test('keeps the state of a NIC whose entry is invalid or which is not plugged', () => {
    const state = stateWith(record(1, 0), record(2, 1));
    const invalid = entry(1, { gateway: '10.9.9.9' });
    const { units, refused } = planApply(input([invalid, entry(2)], configuredHost(), state));
    expect(units).toEqual([]);
    expect(refused.map(({ refusal }) => refusal.reason)).toEqual(['InvalidEntry', 'WaitingForNIC']);
  });

  test.each(['route-multinic0-next', 'ifcfg-multinic0-next'])(
    'does not write over what somebody else has at %s, not even for a while',
    (name) => {
      const path = `/etc/sysconfig/network-scripts/${name}`;
      const theirs = { path, text: 'theirs', mode: 0o600, macs: [] };
      const on = host([link(1)], { files: [theirs] });
      const { units, refused } = planApply({ ...input([entry(1)], on), backend: ifcfg });
      expect(units).toEqual([]);
      const message = `${path} is a file of somebody else; move it away`;
      expect(refused.map(({ refusal }) => refusal)).toEqual([{ reason: 'PersistFailed', message }]);
    },
  );

  test('for people has every step in order', () => {
    expect(planText(planApply(input([entry(1), entry(2)], host([link(1)]))))).toBe(
      [
        `multinic0 ${macOf(1)} (now ens1): apply`,
        '  write net.ipv6.conf.ens1.accept_ra = 0',
        '  write net.ipv4.conf.ens1.rp_filter = 2',
        '  write net.ipv4.conf.ens1.arp_ignore = 1',
        '  write net.ipv4.conf.ens1.arp_announce = 2',
        '  ip link set dev ens1 name multinic0',
        '  ip link set dev multinic0 mtu 1450',
        '  ip link set dev multinic0 addrgenmode none',
        '  ip addr replace 10.0.0.1/24 broadcast 10.0.0.255 dev multinic0',
        '  ip link set dev multinic0 up',
        '  ip route replace 10.0.0.0/24 dev multinic0 src 10.0.0.1 table 100 proto 4 scope 253 metric 100',
        '  ip route replace 0.0.0.0/0 via 10.0.0.254 dev multinic0 table 100 proto 4 scope 0 metric 100',
        '  ip rule add from 10.0.0.1/32 table 100 priority 10100 protocol 2',
        '  create /etc/netplan/90-multinic0.yaml',
        `multinic1 ${macOf(2)}: WaitingForNIC, no link has the MAC ${macOf(2)} yet`,
        '',
      ].join('\n'),
    );
  });

  test('for people says so when there is nothing', () => {
    expect(planText({ units: [], refused: [] })).toBe('nothing to do\n');
  });
});
