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

describe('a NIC unplugged and replugged', () => {
  const held = [{ mac: macOf(1), index: 0, addresses: ['10.0.0.9/24'] }];
  const on = host([link(1, { name: 'multinic0', up: true })], {
    held,
    addresses: [address('multinic0', '10.0.0.9/24')],
    routes: [route('10.0.0.0/24', 'multinic0', { table: 100, protocol: 4, src: '10.0.0.9' })],
    rules: [
      { family: 4, from: '10.0.0.9/32', table: 100, priority: 10_100, protocol: 4, opaque: false },
    ],
  });

  test("a replugged NIC loses the network manager's old address and rule, and the record remembers them", () => {
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

/** Configured host with foreign users on the NIC: a macvlan, an address and routes. */
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

describe('apply plan', () => {
  test("planApply records a new NIC's original state", () => {
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

  test('planApply records ownership keys for every address, route and rule', () => {
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

  test('planApply needs no operations for a correct NIC', () => {
    const { units, refused } = planApply(
      input([entry(1)], configuredHost(), stateWith(record(1, 0))),
    );
    expect(refused).toEqual([]);
    expect(units.map(isDone)).toEqual([true]);
    expect(planText({ units, refused })).toBe(`multinic0 ${macOf(1)}: up to date\n`);
  });

  test('[RW-35] planApply rewrites a file readable by other users', () => {
    const on = configuredHost();
    const open = { ...on, files: on.files.map((file) => ({ ...file, mode: 0o644 })) };
    const [unit] = planApply(input([entry(1)], open, stateWith(record(1, 0)))).units;
    expect(unit?.files).toMatchObject({ commit: { changed: true } });
    expect(unit?.change.operations).toEqual([]);
  });

  describe('a managed NIC with foreign users', () => {
    const state = stateWith(record(1, 0));

    test('planApply accepts a correct NIC despite foreign users', () => {
      const { units, refused } = planApply(input([entry(1)], usedHost(), state));
      expect([units.map(isDone), refused]).toEqual([[true], []]);
    });

    test('planApply refuses to change a NIC with foreign users', () => {
      const { units, refused } = planApply(input([entry(1, { mtu: 1400 })], usedHost(), state));
      expect(units).toEqual([]);
      expect(refused).toMatchObject([{ name: 'multinic0', refusal: { reason: 'NICInUse' } }]);
    });
  });

  describe('a NIC whose address another link has too', () => {
    test.each([
      ['a dummy', { kind: 'dummy', up: true }],
      ['a link that is down', { kind: 'bridge' }],
      ['a link without ARP', { kind: 'ipip', up: true, noArp: true }],
    ])(
      'planApply accepts a NIC whose address is also on %s, invisible to neighbours',
      (_, more) => {
        expect(planned(configuredHost(), holder(more))).toEqual([[true], []]);
      },
    );

    test('planApply refuses a NIC while another link answers for the address', () => {
      expect(planned(configuredHost(), holder({ up: true }))).toEqual([[], ['NICInUse']]);
    });

    test('planApply refuses a NIC without the address while a dummy has it', () => {
      const fresh = host([link(1, { name: 'multinic0' })]);
      expect(planned(fresh, holder({ kind: 'dummy' }))).toEqual([[], ['NICInUse']]);
    });
  });

  test('planApply keeps the recorded original state through later changes', () => {
    const was = { originalName: 'enp9', original: { mtu: 9000, up: true, settings: {} } };
    const state = stateWith({ ...record(1, 0), ...was });
    const { units } = planApply(input([entry(1, { mtu: 1400 })], configuredHost(), state));
    expect(units[0]?.record).toMatchObject(was);
    // Settings an earlier version did not manage: the current values are the originals.
    expect(units[0]?.record?.original?.settings).toEqual({ 'ipv6.accept_ra': '0' });
  });

  test("planApply respects an unrequested managed NIC's index and subnet", () => {
    const unrequested = link(2, { name: 'multinic0', up: true });
    const on = host([link(1), unrequested], { addresses: [address('multinic0', '10.0.0.2/24')] });
    const { units, refused } = planApply(input([entry(1)], on, stateWith(record(2, 0))));
    expect(refused).toEqual([]);
    expect(units.map(({ index }) => index)).toEqual([1]);
  });

  test("planApply respects an unrequested managed NIC's route in main", () => {
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

  test('planApply reserves the index for a NIC with an invalid entry', () => {
    const invalid = entry(2, { index: 5, gateway: '10.9.9.9' });
    const on = host([link(2, { name: 'multinic1' }), link(3)]);
    const asked = [invalid, entry(3, { index: 1 })];
    const { units } = planApply(input(asked, on, stateWith(record(2, 1))));
    expect(units.map(({ index }) => index)).toEqual([0]);
  });

  test('planApply leaves an old file to the NIC taking its path', () => {
    const nics = [link(1, { name: 'multinic0' }), link(2)];
    const on = host(nics, { files: [ownFile(0, macOf(1), []), ownFile(1, macOf(1), [])] });
    const { units } = planApply(input([entry(1), entry(2)], on, stateWith(record(1, 0))));
    expect(units.map(({ files }) => inOrder(files).map(({ path }) => path))).toEqual([
      ['/etc/netplan/90-multinic0.yaml'],
      ['/etc/netplan/91-multinic1.yaml'],
    ]);
  });

  test('planApply swaps two managed names through temporary names', () => {
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

  test('planApply refuses a NIC whose name a refused NIC keeps', () => {
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

  test('planApply changes nothing for NICs with an invalid entry or without a link', () => {
    const state = stateWith(record(1, 0), record(2, 1));
    const invalid = entry(1, { gateway: '10.9.9.9' });
    const { units, refused } = planApply(input([invalid, entry(2)], configuredHost(), state));
    expect(units).toEqual([]);
    expect(refused.map(({ refusal }) => refusal.reason)).toEqual(['InvalidEntry', 'WaitingForNIC']);
  });

  test.each(['route-multinic0-next', 'ifcfg-multinic0-next'])(
    'planApply refuses to overwrite a foreign file at the interim path %s',
    (name) => {
      const path = `/etc/sysconfig/network-scripts/${name}`;
      const theirs = { path, text: 'theirs', mode: 0o600, macs: [] };
      const on = host([link(1)], { files: [theirs] });
      const { units, refused } = planApply({ ...input([entry(1)], on), backend: ifcfg });
      expect(units).toEqual([]);
      const message = `${path} is not managed by MultiNIC; move it away`;
      expect(refused.map(({ refusal }) => refusal)).toMatchObject([
        { reason: 'PersistFailed', code: 'FileUnmanaged', message },
      ]);
    },
  );

  test('planText lists every step in order', () => {
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

  test('planText states an empty plan', () => {
    expect(planText({ units: [], refused: [] })).toBe('no changes\n');
  });
});
