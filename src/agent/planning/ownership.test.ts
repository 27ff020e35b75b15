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
} from '../../../test/fixtures/agent-samples.ts';
import type { Snapshot } from '../snapshot.ts';
import { emptyState, type NicRecord } from '../state.ts';
import { ownedBy, recordOf, withGeneratedConfig } from './ownership.ts';
import { planApply } from './plan.ts';

const named = link(1, { name: 'multinic3', up: true });
const mac = macOf(1);

function inherited(on: Partial<Snapshot>, nic = named) {
  return recordOf(mac, entry(1), emptyState, host([nic], on));
}

/** Returns a route as NetworkManager sets it in main for multinic3. */
function moved(to: string, via?: string) {
  return route(to, 'multinic3', { protocol: 4, metric: 101, ...(via ? { via } : {}) });
}

describe('NIC ownership', () => {
  test('recordOf returns the state.json record', () => {
    const record: NicRecord = {
      mac,
      index: 5,
      originalName: 'ens9',
      addresses: [],
      table: 105,
      priority: 10_105,
      files: [],
    };
    expect(recordOf(mac, entry(1), { ...emptyState, nics: [record] }, host([named]))).toBe(record);
  });

  test.each<[string, Partial<Snapshot>]>([
    ['file', { files: [ownFile(3, mac, ['10.0.0.1/24'])] }],
    [
      'rule',
      {
        addresses: [address('multinic3', '10.7.0.1/24')],
        rules: [rule('10.7.0.1/32', 103, 32_765, { protocol: 0 })],
      },
    ],
    ['route', { routes: [route('10.7.0.0/24', 'multinic3', { table: 103 })] }],
    ['name and address after a clean-up', { addresses: [address('multinic3', '10.0.0.1/24')] }],
  ])("recordOf infers a record from the legacy agent's %s", (_, on) => {
    expect(inherited(on)).toMatchObject({
      index: 3,
      table: 103,
      priority: 10_103,
      originalName: '',
    });
  });

  test.each<[string, Partial<Snapshot>]>([
    ['nothing but a name', {}],
    ['a name and an unrequested address', { addresses: [address('multinic3', '10.7.0.1/24')] }],
    [
      'a rule for another table',
      {
        addresses: [address('multinic3', '10.7.0.1/24')],
        rules: [rule('10.7.0.1/32', 200, 10_050)],
      },
    ],
    ['a file about another MAC', { files: [ownFile(3, macOf(9), [])] }],
  ])('recordOf ignores hand-made state: %s', (_, on) => {
    expect(inherited(on)).toBeUndefined();
  });

  const ofNode = route('0.0.0.0/0', 'eth0', { via: '10.200.0.254' });
  test.each<[string, Snapshot['routes'][number], Snapshot['routes'], boolean]>([
    ['a moved default route', moved('0.0.0.0/0', '10.0.0.254'), [ofNode], true],
    ['a moved IPv6 default route', moved('::/0', 'fd00::fe'), [ofNode], true],
    ['a moved subnet route', moved('10.0.0.0/24'), [], true],
    ['a moved route of the request', moved('10.77.0.0/24', '10.0.0.253'), [], true],
    ['a route by another gateway', moved('10.77.0.0/24', '10.0.0.252'), [], false],
    [
      'a default route set by hand',
      { ...moved('0.0.0.0/0', '10.0.0.254'), protocol: 3 },
      [ofNode],
      false,
    ],
    ["the node's only default route", moved('0.0.0.0/0', '10.0.0.254'), [], false],
  ])("ownedBy knows the table's routes in main: %s", (_, item, others, isOwn) => {
    const record: NicRecord = {
      mac,
      index: 3,
      originalName: 'ens9',
      addresses: ['10.0.0.1/24'],
      table: 103,
      priority: 10_103,
      files: [],
      tableRoutes: [
        { to: '10.0.0.0/24' },
        { to: '0.0.0.0/0', via: '10.0.0.254' },
        { to: '::/0', via: 'fd00::fe' },
        { to: '10.77.0.0/24', via: '10.0.0.253' },
      ],
    };
    const { routes } = ownedBy(mac, record, { ...host([named]), routes: [item, ...others] });
    expect(routes).toEqual(isOwn ? [`${item.to} table 254 metric 101`] : []);
  });

  test('ownedBy includes addresses that a user adds to our file', () => {
    const path = '/etc/netplan/93-multinic3.yaml';
    const record: NicRecord = {
      mac,
      index: 3,
      originalName: 'ens9',
      addresses: ['10.0.0.1/24'],
      table: 103,
      priority: 10_103,
      files: [{ path, sha256: '' }],
    };
    const file = { ...ownFile(3, mac, ['10.0.0.1/24', '10.0.0.99/24']), path };
    const { ips, rules } = ownedBy(mac, record, host([named], { files: [file] }));
    expect(ips).toEqual(['10.0.0.1', '10.0.0.99']);
    expect(rules).toEqual(['10.0.0.1 table 103', '10.0.0.99 table 103']);
  });

  test("ownedBy combines recorded state with the network manager's state since boot, without reassigned rules", () => {
    const record: NicRecord = {
      mac,
      index: 5,
      originalName: 'ens9',
      addresses: ['10.0.0.2/24'],
      table: 105,
      priority: 10_105,
      files: [],
      boot: { bootId: 'boot-1', addresses: ['10.0.0.1/24', '10.0.0.2/24'] },
    };
    const bare = host([]);
    const nothing = { tables: [], ips: [], routes: [], rules: [] };
    expect(ownedBy(mac, record, bare)).toEqual({
      tables: [105],
      ips: ['10.0.0.2', '10.0.0.1'],
      routes: [],
      rules: ['10.0.0.2 table 105', '10.0.0.1 table 105'],
    });
    const left = ['10.9.0.0/16 table 254 metric 5'];
    const list = { tables: [100], ips: ['10.0.0.9'], routes: left, rules: ['10.0.0.9 table 100'] };
    expect(ownedBy(mac, { ...record, owned: list }, bare)).toEqual({
      tables: [100, 105],
      ips: ['10.0.0.9', '10.0.0.1', '10.0.0.2'],
      routes: left,
      rules: ['10.0.0.9 table 100', '10.0.0.1 table 105', '10.0.0.2 table 105'],
    });
    const successor = { mac: macOf(9), table: 100, addresses: ['10.0.0.9/16'] };
    expect(ownedBy(mac, { ...record, owned: list }, bare, [successor]).rules).toEqual([
      '10.0.0.1 table 105',
      '10.0.0.2 table 105',
    ]);
    const to = '10.7.0.0/16';
    const routed = {
      ...record,
      routes: [{ to, table: 254, metric: 105 }],
      boot: { bootId: 'b', addresses: [], routes: [{ to, table: 254, metric: 7 }] },
    };
    expect(ownedBy(mac, routed, bare).routes).toEqual([
      '10.7.0.0/16 table 254 metric 105',
      '10.7.0.0/16 table 254 metric 7',
    ]);
    expect(ownedBy(mac, undefined, bare)).toEqual(nothing);
    const held = [{ mac, index: 2, addresses: ['10.0.0.3/24'] }];
    expect(ownedBy(mac, undefined, host([], { held }))).toEqual({
      tables: [102],
      ips: ['10.0.0.3'],
      routes: [],
      rules: ['10.0.0.3 table 102'],
    });
    expect(ownedBy(macOf(9), undefined, host([], { held }))).toEqual(nothing);
  });

  test("recordOf ignores a network manager's rule similar to ours", () => {
    const foreign = { rules: [rule('10.7.0.9/32', 103, 10_103, { protocol: 16 })] };
    const files = [ownFile(3, mac, ['10.0.0.1/24'])];
    expect(inherited({ ...foreign, files })?.addresses).not.toContain('10.7.0.9/32');
  });

  test('IPv6 rules are never legacy rules: the legacy agent made IPv4 rules only', () => {
    const rules = [rule('fd00:7::/32', 103, 10_050, { protocol: 3 })];
    const files = [ownFile(3, mac, ['10.0.0.1/24'])];
    expect(inherited({ rules, files })?.addresses).toEqual([]);
    expect(alone({ rules: [rule('fd00:7::/32', 100, 10_050, { protocol: 3 })] })).toBe('accepted');
    const wanted = entry(1, { addresses: ['10.0.0.1/24', 'fd00:1::1/64'] });
    const taken = host([named], { rules, files });
    expect(planApply(input([wanted], taken)).refused[0]?.refusal.reason).toBe('TableInUse');
  });

  test('recordOf includes every legacy address, on the link or only in a rule', () => {
    const record = inherited({
      addresses: [address('multinic3', '10.0.0.1/24'), address('multinic3', '10.0.0.7/24')],
      rules: ['10.0.0.7', '10.0.0.8'].map((ip) => rule(`${ip}/32`, 103, 32_000, { protocol: 3 })),
    });
    expect(record?.addresses).toEqual(['10.0.0.1/24', '10.0.0.7/24', '10.0.0.8/32']);
  });

  test('recordOf finds an unplugged NIC by a legacy file', () => {
    const files = [ownFile(4, mac, ['10.0.0.1/24'])];
    expect(recordOf(mac, entry(1), emptyState, host([], { files }))).toMatchObject({ index: 4 });
  });

  test('recordOf prefers the current link name over an old file', () => {
    expect(inherited({ files: [ownFile(7, mac, [])] })).toMatchObject({ index: 3 });
  });
});

describe("adopting a legacy agent's NIC", () => {
  const on = host([named], {
    addresses: [
      address('multinic3', '10.0.0.1/24', { noPrefixRoute: true }),
      address('multinic3', '10.0.0.7/24', { noPrefixRoute: true }),
    ],
    routes: [
      route('10.0.0.0/24', 'multinic3', { table: 103, scope: 253, src: '10.0.0.1', metric: 103 }),
    ],
    rules: [
      rule('10.0.0.1/32', 103, 32_764, { protocol: 0 }),
      rule('10.0.0.7/32', 103, 32_765, { protocol: 0 }),
      rule('10.9.0.0/16', 200, 111, { protocol: 0 }),
    ],
    files: [ownFile(3, mac, ['10.0.0.1/24']), ownFile(7, mac, [])],
  });
  const { units, refused } = planApply(input([entry(1)], on));
  const [unit] = units;

  test('an adopted NIC keeps name and index whatever the request', () => {
    expect(refused).toEqual([]);
    expect(unit).toMatchObject({
      index: 3,
      target: { index: 0 },
      after: { link: { name: 'multinic3' } },
    });
    expect(unit?.change.operations.some(({ kind }) => kind === 'link.rename')).toBe(false);
  });

  test("adoption replaces the NIC's legacy rules and second addresses, and leaves foreign rules", () => {
    const rules = unit?.change.operations.flatMap((item) => ('rule' in item ? [item] : []));
    expect(rules).toMatchObject([
      { kind: 'rule.add', rule: { from: '10.0.0.1/32', priority: 10_103, protocol: 2 } },
      { kind: 'rule.delete', rule: { from: '10.0.0.1/32', priority: 32_764 } },
      { kind: 'rule.delete', rule: { from: '10.0.0.7/32', priority: 32_765 } },
    ]);
    expect(unit?.change.operations).toContainEqual({
      kind: 'address.delete',
      dev: 'multinic3',
      address: { cidr: '10.0.0.7/24', noPrefixRoute: true },
    });
  });

  test('adoption replaces the legacy file and removes an older file', () => {
    expect(unit?.files).toMatchObject({
      commit: { path: '/etc/netplan/93-multinic3.yaml', changed: true },
      obsolete: [{ path: '/etc/netplan/97-multinic7.yaml', after: null, changed: true }],
    });
  });
});

test('withGeneratedConfig records what the network manager received since boot', () => {
  const generated = { mac, index: 3, addresses: ['10.0.0.1/24'] };
  const boot = { bootId: 'boot-1', addresses: ['10.0.0.2/24'], setUp: 11 };
  const record = {
    mac,
    index: 3,
    originalName: '',
    addresses: [],
    table: 103,
    priority: 1,
    files: [],
  };
  const known = {
    ...emptyState,
    nics: [
      { ...record, boot },
      { ...record, mac: macOf(2) },
    ],
  };
  const { nics } = withGeneratedConfig(known, {
    held: [generated, { ...generated, mac: macOf(7) }],
  });
  expect(nics).toEqual([
    { ...record, boot: { ...boot, addresses: ['10.0.0.2/24', '10.0.0.1/24'] } },
    { ...record, mac: macOf(2) },
  ]);
});
