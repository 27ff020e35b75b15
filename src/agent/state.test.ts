import { describe, expect, test } from 'vitest';
import {
  advanceFence,
  atBoot,
  emptyState,
  staleness,
  stateAfterDetach,
  withNic,
  withoutNic,
} from './state.ts';

const seen = advanceFence(emptyState, { uid: 'a', generation: 5 });

describe('fence', () => {
  test.each([
    ['the host has no fence', emptyState, { uid: 'a', generation: 0 }],
    ['the generation is the same', seen, { uid: 'a', generation: 5 }],
    ['the generation is newer', seen, { uid: 'a', generation: 6 }],
    ['the object is another', seen, { uid: 'b', generation: 1 }],
  ])('staleness accepts a request when %s', (_, state, fence) => {
    expect(staleness(state, fence)).toBeUndefined();
  });

  test('staleness refuses an older generation', () => {
    expect(staleness(seen, { uid: 'a', generation: 4 })).toContain('older than generation 5');
  });

  test('staleness refuses a replaced object whatever its generation', () => {
    const replaced = advanceFence(seen, { uid: 'b', generation: 1 });
    expect(replaced).toMatchObject({ fence: { uid: 'b' }, retiredUids: ['a'] });
    expect(staleness(replaced, { uid: 'a', generation: 99 })).toContain('replaced');
  });

  test("staleness accepts an older object superseding exactly the host's fence", () => {
    const older = { uid: 'a', generation: 2 };
    const supersedes = { uid: 'a', generation: 5 };
    expect(staleness(seen, { ...older, supersedes })).toBeUndefined();
    for (const late of [
      { uid: 'a', generation: 4 },
      { uid: 'b', generation: 5 },
    ]) {
      expect(staleness(seen, { ...older, supersedes: late })).toContain('older than generation 5');
    }
    expect(staleness(emptyState, { ...older, supersedes })).toBeUndefined();
  });

  test('advanceFence accepts a restored object for good', () => {
    const replaced = advanceFence(seen, { uid: 'b', generation: 1 });
    const restored = advanceFence(replaced, { uid: 'a', generation: 2 });
    expect(restored).toMatchObject({ fence: { uid: 'a' }, retiredUids: ['b'] });
  });

  test('advanceFence remembers the last sixteen uids', () => {
    let state = emptyState;
    for (let n = 0; n < 30; n++) state = advanceFence(state, { uid: `u${n}`, generation: 1 });
    expect(state.retiredUids).toEqual(Array.from({ length: 16 }, (_, n) => `u${n + 13}`));
  });
});

const nic = (mac: string, index: number) => ({
  mac,
  index,
  originalName: '',
  addresses: [],
  table: 100,
  priority: 10_100,
  files: [],
});

describe('recorded NICs', () => {
  test('withNic keeps one record per MAC, in index order', () => {
    const state = [nic('b', 1), nic('a', 0), nic('b', 2)].reduce(withNic, emptyState);
    expect(state.nics.map(({ mac, index }) => [mac, index])).toEqual([
      ['a', 0],
      ['b', 2],
    ]);
    expect(withoutNic(state, 'a').nics.map(({ mac }) => mac)).toEqual(['b']);
  });
});

describe('detached NIC records', () => {
  const boot = { bootId: 'boot-1', addresses: ['10.0.0.1/24'] };
  const held = { mac: 'a', index: 0, ...boot };
  const state = withNic(emptyState, { ...nic('a', 0), boot });

  test('a detached NIC is remembered for this boot if the manager holds its configuration', () => {
    const left = stateAfterDetach(state, 'a');
    expect(left).toEqual({ ...emptyState, left: [held] });
    expect(atBoot(left, 'boot-1')).toEqual(left);
    expect(atBoot(left, 'boot-2')).toEqual(emptyState);
  });

  test('a detached NIC is not remembered without held configuration, and never twice', () => {
    const fresh = withNic(emptyState, { ...nic('a', 0), boot: { ...boot, addresses: [] } });
    expect(stateAfterDetach(fresh, 'a')).toEqual(emptyState);
    expect(stateAfterDetach(withNic(emptyState, nic('a', 0)), 'a')).toEqual(emptyState);
    const twice = stateAfterDetach(
      withNic(stateAfterDetach(state, 'a'), { ...nic('a', 0), boot }),
      'a',
    );
    expect(twice.left).toEqual([held]);
  });

  test('a detached NIC is remembered with its original state', () => {
    const original = { mtu: 1500, up: true, settings: {} };
    const former = { originalName: 'ens5', original };
    const left = stateAfterDetach(withNic(emptyState, { ...nic('a', 0), ...former, boot }), 'a');
    expect(left.left).toEqual([{ ...held, ...former }]);
  });

  test('the last ten detached NICs are remembered', () => {
    const macs = Array.from({ length: 12 }, (_, i) => String(i));
    const end = macs.reduce(
      (so, mac) => stateAfterDetach(withNic(so, { ...nic(mac, 0), boot }), mac),
      emptyState,
    );
    expect(end.left?.map(({ mac }) => mac)).toEqual(macs.slice(2));
  });
});

describe('state after a boot', () => {
  test("atBoot records the files' configuration as held by the network manager, once per boot", () => {
    const routes = [{ to: '10.9.0.0/16', table: 254, metric: 100 }];
    const known = withNic(emptyState, { ...nic('a', 0), addresses: ['10.0.0.1/24'], routes });
    const booted = atBoot(known, 'one');
    const boot = { bootId: 'one', addresses: ['10.0.0.1/24'], routes };
    expect(booted.nics).toMatchObject([{ boot }]);
    const [first = nic('a', 0)] = booted.nics;
    const moved = withNic(booted, { ...first, addresses: ['10.0.0.2/24'] });
    expect(atBoot(moved, 'one').nics).toMatchObject([{ boot }]);
    expect(atBoot(moved, 'two').nics).toMatchObject([{ boot: { addresses: ['10.0.0.2/24'] } }]);
  });
});
