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

describe('the fence', () => {
  test.each([
    ['nothing was seen', emptyState, { uid: 'a', generation: 0 }],
    ['it is the same generation again', seen, { uid: 'a', generation: 5 }],
    ['it is a newer generation', seen, { uid: 'a', generation: 6 }],
    ['it is another object', seen, { uid: 'b', generation: 1 }],
  ])('lets a request pass when %s', (_, state, fence) => {
    expect(staleness(state, fence)).toBeUndefined();
  });

  test('holds back an older generation', () => {
    expect(staleness(seen, { uid: 'a', generation: 4 })).toContain('older than 5');
  });

  test('holds back an object that was replaced, whatever its generation', () => {
    const replaced = advanceFence(seen, { uid: 'b', generation: 1 });
    expect(replaced).toMatchObject({ fence: { uid: 'b' }, retiredUids: ['a'] });
    expect(staleness(replaced, { uid: 'a', generation: 99 })).toContain('replaced');
  });

  test('lets an older object pass that names exactly what the host has seen', () => {
    const older = { uid: 'a', generation: 2 };
    const supersedes = { uid: 'a', generation: 5 };
    expect(staleness(seen, { ...older, supersedes })).toBeUndefined();
    for (const late of [
      { uid: 'a', generation: 4 },
      { uid: 'b', generation: 5 },
    ]) {
      expect(staleness(seen, { ...older, supersedes: late })).toContain('older than 5');
    }
    expect(staleness(emptyState, { ...older, supersedes })).toBeUndefined();
  });

  test('accepts a restored object for good', () => {
    const replaced = advanceFence(seen, { uid: 'b', generation: 1 });
    const restored = advanceFence(replaced, { uid: 'a', generation: 2 });
    expect(restored).toMatchObject({ fence: { uid: 'a' }, retiredUids: ['b'] });
  });

  test('remembers the last sixteen', () => {
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

describe('the NICs', () => {
  test('are one per MAC, in order of index', () => {
    const state = [nic('b', 1), nic('a', 0), nic('b', 2)].reduce(withNic, emptyState);
    expect(state.nics.map(({ mac, index }) => [mac, index])).toEqual([
      ['a', 0],
      ['b', 2],
    ]);
    expect(withoutNic(state, 'a').nics.map(({ mac }) => mac)).toEqual(['b']);
  });
});

describe('a NIC that left', () => {
  const boot = { bootId: 'boot-1', addresses: ['10.0.0.1/24'] };
  const held = { mac: 'a', index: 0, ...boot };
  const state = withNic(emptyState, { ...nic('a', 0), boot });

  test('is remembered as long as the manager holds something of it', () => {
    const left = stateAfterDetach(state, 'a');
    expect(left).toEqual({ ...emptyState, left: [held] });
    expect(atBoot(left, 'boot-1')).toEqual(left);
    expect(atBoot(left, 'boot-2')).toEqual(emptyState);
  });

  test('is forgotten where the manager never knew it, and remembered once', () => {
    const fresh = withNic(emptyState, { ...nic('a', 0), boot: { ...boot, addresses: [] } });
    expect(stateAfterDetach(fresh, 'a')).toEqual(emptyState);
    expect(stateAfterDetach(withNic(emptyState, nic('a', 0)), 'a')).toEqual(emptyState);
    const twice = stateAfterDetach(
      withNic(stateAfterDetach(state, 'a'), { ...nic('a', 0), boot }),
      'a',
    );
    expect(twice.left).toEqual([held]);
  });

  test('is remembered with what it was before it was ours, for when it comes back', () => {
    const original = { mtu: 1500, up: true, settings: {} };
    const former = { originalName: 'ens5', original };
    const left = stateAfterDetach(withNic(emptyState, { ...nic('a', 0), ...former, boot }), 'a');
    expect(left.left).toEqual([{ ...held, ...former }]);
  });

  test('is one of the last ten', () => {
    const macs = Array.from({ length: 12 }, (_, i) => String(i));
    const end = macs.reduce(
      (so, mac) => stateAfterDetach(withNic(so, { ...nic(mac, 0), boot }), mac),
      emptyState,
    );
    expect(end.left?.map(({ mac }) => mac)).toEqual(macs.slice(2));
  });
});

describe('a boot', () => {
  test('leaves to the network manager what the files said then, and only once', () => {
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
