import { describe, expect, test } from 'vitest';
import {
  address,
  entry,
  host,
  input,
  link,
  macOf,
  ownFile,
  request,
  route,
  rule,
} from '../../../test/fixtures/agent-samples.ts';
import type { ConfigFile, Snapshot } from '../snapshot.ts';
import { emptyState, type NicRecord } from '../state.ts';
import { batchLine } from './operation.ts';
import { planApply } from './plan.ts';
import { hostAfterRemoval, planRemoval } from './plan-removal.ts';
import { stateAfter } from './unit.ts';

const record: NicRecord = {
  mac: macOf(1),
  index: 0,
  originalName: 'ens1',
  addresses: ['10.0.0.1/24'],
  table: 100,
  priority: 10_100,
  files: [{ path: '/etc/netplan/90-multinic0.yaml', sha256: '' }],
};
const state = { ...emptyState, nics: [record] };
const nic = link(1, { name: 'multinic0', up: true, mtu: 1450, addressMode: 'none' });
const ours = {
  addresses: [address('multinic0', '10.0.0.1/24')],
  routes: [route('10.0.0.0/24', 'multinic0', { table: 100, protocol: 4 })],
  rules: [rule('10.0.0.1/32', 100, 10_100)],
  files: [ownFile(0, macOf(1), ['10.0.0.1/24'])],
  settings: new Map([['multinic0', { 'ipv6.accept_ra': '0' }]]),
};

describe('removal plan', () => {
  test("planRemoval deletes a plugged NIC's managed state and restores name and settings", () => {
    const { units, refused } = planRemoval(input([], host([nic], ours), state));
    expect(refused).toEqual([]);
    expect(units[0]?.change.operations.map(batchLine)).toEqual([
      'link set dev multinic0 down',
      'link set dev multinic0 name ens1',
      'link set dev ens1 addrgenmode eui64',
      'rule del from 10.0.0.1/32 table 100 priority 10100 protocol 4',
      'addr del 10.0.0.1/24 dev ens1',
    ]);
    expect(units[0]?.change.sysctls).toEqual([
      { dev: 'multinic0', key: 'ipv6.accept_ra', value: '1' },
    ]);
    expect(units[0]?.files).toMatchObject({
      commit: { path: '/etc/netplan/90-multinic0.yaml', after: null },
      obsolete: [],
    });
    expect(units[0]).not.toHaveProperty('record');
  });

  test('planRemoval refuses a NIC while the recorded file is unreadable, and ignores other unreadable files', () => {
    const [{ path }] = ours.files as [ConfigFile];
    const unreadable = { path, text: '', mode: 0, macs: [], unread: 'EACCES' };
    const found = planRemoval(input([], host([nic], { ...ours, files: [unreadable] }), state));
    expect(found.units).toEqual([]);
    expect(found.refused).toMatchObject([
      {
        refusal: {
          reason: 'PersistFailed',
          message: `${path} cannot be read: EACCES; make it readable or move it away`,
        },
      },
    ]);
    const others = { ...unreadable, path: '/etc/netplan/50-theirs.yaml' };
    const { units } = planRemoval(input([], host([nic], { ...ours, files: [others] }), state));
    expect(units).toHaveLength(1);
  });

  test('planRemoval refuses a NIC with a twin or an unfinished change', () => {
    const twice = input([], host([nic, link(1, { index: 31, name: 'ens9' })], ours), state);
    const inHand = new Map([[macOf(1), { reason: 'RollbackFailed', message: '' } as const]]);
    const found = [twice, { ...input([], host([nic], ours), state), inHand }].map(planRemoval);
    expect(found.map(({ units, refused }) => [units, refused[0]?.refusal.reason])).toEqual([
      [[], 'DuplicateMAC'],
      [[], 'RollbackFailed'],
    ]);
  });

  test('planRemoval clears link-local addresses if the NIC was down before, else leaves them to the kernel', () => {
    const original = { mtu: 1500, up: true, settings: {} };
    const [down, up] = [record, { ...record, original }].map(
      (each) => planRemoval(input([], host([nic], ours), { ...emptyState, nics: [each] })).units[0],
    );
    expect(down?.after.link?.linkLocal).toEqual([]);
    expect(up?.after.link).not.toHaveProperty('linkLocal');
  });

  test('a NIC in state.json and in a clean-up entry is released once', () => {
    const wanted = request([entry(1)], { action: 'cleanup' });
    const { units } = planRemoval(input(wanted, host([nic], ours), state));
    expect(units.map(({ target }) => target.mac)).toEqual([macOf(1)]);
  });

  test('planRemoval refuses a NIC with a route the agent cannot restore', () => {
    const theirs = route('10.9.0.0/24', 'multinic0', { table: 100, opaque: true });
    const on = host([nic], { ...ours, routes: [...ours.routes, theirs] });
    const { units, refused } = planRemoval(input([], on, state));
    expect([units, refused[0]?.refusal.reason]).toEqual([[], 'NICInUse']);
  });

  test('planRemoval deletes rules and file for an absent NIC', () => {
    const { addresses: _, routes: __, ...left } = ours;
    const [unit] = planRemoval(input([], host([], left), state)).units;
    expect(unit?.change.operations.map(({ kind }) => kind)).toEqual(['rule.delete']);
    expect(unit?.files).toMatchObject({ commit: { changed: true, after: null } });
  });

  test.each([
    ['is taken', [link(5, { name: 'ens1' })], 'mnfree11', {}],
    ["is another NIC's alternative name", [link(5, { altNames: ['ens1'] })], 'mnfree11', {}],
    ['is free', [], 'ens1', {}],
    ["is the NIC's own alternative name", [], 'ens1', { altNames: ['ens1'] }],
  ])('planRemoval picks the right name if the original name %s', (_, others, name, more) => {
    const [unit] = planRemoval(
      input([], host([{ ...nic, ...more }, ...others], ours), state),
    ).units;
    expect(unit?.after.link?.name).toBe(name);
  });

  test('two NICs with the same original name: only one gets the name back', () => {
    const second = { ...record, mac: macOf(2), index: 1, table: 101, addresses: [] };
    const on = host([nic, link(2, { name: 'multinic1' })], ours);
    const { units } = planRemoval(input([], on, { ...state, nics: [record, second] }));
    expect(units.map(({ after }) => after.link?.name)).toEqual(['ens1', 'mnfree12']);
  });

  test('planRemoval keeps a NIC with an invalid entry', () => {
    const invalid = entry(1, { gateway: '10.9.9.9' });
    expect(planRemoval(input([invalid], host([nic], ours), state))).toEqual({
      units: [],
      refused: [],
    });
  });

  test('a clean-up releases all NICs, including legacy NICs', () => {
    const left = ownFile(3, macOf(2), ['10.0.0.2/24']);
    const on = host([nic, link(2, { name: 'multinic3' })], {
      ...ours,
      files: [...ours.files, left],
    });
    const wanted = request([entry(2, { portId: 'p2' })], { action: 'cleanup' });
    const { units } = planRemoval(input(wanted, on, state));
    expect(units.map(({ target }) => target)).toEqual([
      { mac: macOf(1), index: 0 },
      { mac: macOf(2), index: 3, portId: 'p2' },
    ]);
    expect(units[1]?.after.link?.name).toBe('mnfree12');
  });

  test.each([
    ['became primary', { routes: [route('0.0.0.0/0', 'multinic0')] }, 'PrimaryNIC'],
    ['got a foreign address', { addresses: [address('multinic0', '10.7.0.1/24')] }, 'NICInUse'],
  ])('planRemoval refuses a NIC that %s', (_, more, reason) => {
    const { units, refused } = planRemoval(input([], host([nic], more), state));
    expect(units).toEqual([]);
    expect(refused).toMatchObject([{ name: 'multinic0', refusal: { reason } }]);
  });

  test('planRemoval leaves a foreign file at our path alone', () => {
    const theirs = {
      path: '/etc/netplan/90-multinic0.yaml',
      text: 'theirs',
      mode: 0o644,
      macs: [],
    };
    const on = host([nic], { ...ours, files: [theirs] });
    const { units } = planRemoval(input([], on, state));
    expect(units[0]?.files).toMatchObject({
      commit: { changed: false, before: null, after: null },
    });
    expect(hostAfterRemoval(on, units).files).toEqual([theirs]);
  });

  test('hostAfterRemoval has names, tables and addresses free', () => {
    const on = host([nic], ours);
    const after = hostAfterRemoval(on, planRemoval(input([], on, state)).units);
    expect(JSON.stringify(after)).not.toMatch(/multinic0|10\.0\.0\.1/);
    expect(after.links).toContainEqual(expect.objectContaining({ name: 'ens1', up: false }));
  });
});

describe('a detached NIC replugged in the same boot', () => {
  const former = { originalName: 'ens1', original: { mtu: 1500, up: false, settings: {} } };
  const left = { mac: macOf(1), index: 0, bootId: 'boot-1', addresses: ['10.0.0.1/24'], ...former };
  const detached = { ...emptyState, left: [left] };
  const reattached = { ...ours, files: [], held: [left] };
  const removed = (
    wanted: Parameters<typeof input>[0],
    nics = [nic],
    more: Partial<Snapshot> = {},
  ) => planRemoval(input(wanted, host(nics, { ...reattached, ...more }), detached));

  test("a reattached NIC loses the network manager's configuration and our name", () => {
    const { units, refused } = removed([]);
    expect(refused).toEqual([]);
    expect(units.map(({ target, after }) => [target, after.link?.name, after.link?.mtu])).toEqual([
      [{ mac: macOf(1), index: 0 }, 'ens1', 1500],
    ]);
    const lines = units[0]?.change.operations.map(batchLine);
    expect(lines).toContain('addr del 10.0.0.1/24 dev ens1');
    expect(lines).toContain('rule del from 10.0.0.1/32 table 100 priority 10100 protocol 4');
    // The network manager still holds the NIC: recognised again at the next replug.
    expect(units.reduce(stateAfter, detached)).toEqual(detached);
  });

  test('a detached NIC is not released under another name, with a request entry, or listed in keep', () => {
    const rules = { rules: [] };
    expect(removed([], [{ ...nic, name: 'ens1' }], rules).units).toEqual([]);
    expect(removed([], [{ ...nic, mac: macOf(2) }], rules).units).toEqual([]);
    expect(removed([entry(1)]).units).toEqual([]);
    expect(removed(request([], { keep: [macOf(1)] })).units).toEqual([]);
    expect(planRemoval(input([], host([nic], reattached), emptyState)).units).toEqual([]);
  });

  test.each([
    ['has another name', [{ ...nic, name: 'ens1' }]],
    ['is absent', []],
    ['was replaced by another NIC', [{ ...nic, mac: macOf(2) }]],
  ])('only reappeared rules are deleted for a detached NIC that %s', (_, nics) => {
    const [unit, ...others] = removed([], nics).units;
    expect(others).toEqual([]);
    expect(unit).toMatchObject({ before: { rules: [{ table: 100 }] }, after: { rules: [] } });
    expect([unit?.before.link, unit?.after.link]).toEqual([undefined, undefined]);
    expect(unit?.change.operations.map(batchLine)).toEqual([
      'rule del from 10.0.0.1/32 table 100 priority 10100 protocol 4',
    ]);
  });

  test('only rules are deleted for a detached NIC under another name, despite a file about the NIC', () => {
    const files = [ownFile(0, macOf(1), ['10.0.0.1/24'])];
    const [unit] = removed([], [{ ...nic, name: 'ens1' }], { files }).units;
    expect(unit?.files).toMatchObject({ commit: { changed: false }, obsolete: [] });
    const cleanup = request([entry(1)], { action: 'cleanup' });
    expect(removed(cleanup, [{ ...nic, name: 'ens1' }], { files }).units).toHaveLength(1);
  });

  test('a detached NIC with an unfinished change keeps the rules', () => {
    const inHand = new Map([[macOf(1), { reason: 'RollbackFailed', message: 'x' } as const]]);
    const on = { ...input([], host([], reattached), detached), inHand };
    expect(planRemoval(on)).toMatchObject({
      units: [],
      refused: [{ target: { mac: macOf(1) }, refusal: { message: 'x' } }],
    });
  });

  test('a clean-up releases a reattached NIC once, even with a request entry', () => {
    const { units } = removed(request([entry(1, { portId: 'p1' })], { action: 'cleanup' }));
    expect(units.map(({ target }) => target)).toEqual([{ mac: macOf(1), index: 0, portId: 'p1' }]);
  });

  test('a reattached NIC requested again meanwhile is released once', () => {
    const { units } = planRemoval(
      input([], host([nic], reattached), { ...detached, nics: [record] }),
    );
    expect(units).toHaveLength(1);
  });

  test('a reattached and requested NIC keeps the recorded original state', () => {
    const wanted = [entry(1, { addresses: ['10.0.0.9/24'] })];
    const on = host([nic], { ...reattached, routes: [], rules: [] });
    const [unit] = planApply(input(wanted, on, detached)).units;
    expect(unit?.record).toMatchObject({ index: 0, ...former });
  });

  test('releasing a reattached NIC waits for an unfinished NIC with the same index', () => {
    const other = { ...record, mac: macOf(2), addresses: [] };
    const inHand = new Map([[macOf(2), { reason: 'RollbackFailed', message: 'x' } as const]]);
    const on = { ...input([], host([nic], reattached), { ...detached, nics: [other] }), inHand };
    expect(planRemoval(on)).toMatchObject({
      units: [],
      refused: [
        { target: { mac: macOf(2) }, refusal: { reason: 'RollbackFailed' } },
        { target: { mac: macOf(1) }, refusal: { reason: 'RollbackFailed' } },
      ],
    });
    const free = { ...other, index: 1 };
    expect(planRemoval({ ...on, state: { ...detached, nics: [free] } }).units).toHaveLength(1);
  });

  test('planRemoval refuses a reattached NIC with foreign users', () => {
    const addresses = [...ours.addresses, address('multinic0', '10.7.0.1/24')];
    const { units, refused } = removed([], [nic], { addresses });
    expect(units).toEqual([]);
    expect(refused).toMatchObject([{ name: 'multinic0', refusal: { reason: 'NICInUse' } }]);
  });
});
