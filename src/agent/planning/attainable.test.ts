import { describe, expect, test } from 'vitest';
import {
  address,
  alone,
  entry,
  host,
  input,
  link,
  macOf,
  route,
  theirs,
} from '../../../test/fixtures/agent-samples.ts';
import type { Route, Snapshot } from '../snapshot.ts';
import { emptyState } from '../state.ts';
import { planApply } from './plan.ts';
import type { RefusedNic } from './unit.ts';

describe('a file of somebody else', () => {
  test.each([
    ['names the NIC', { names: ['ens1'] }, /^NICInUse/],
    ['nobody can read', { unread: 'EACCES' }, /^NICInUse.*cannot read it: EACCES/],
    ['leases for every such name', { leases: ['en*'] }, /^LeasedByHost.*named en\*/],
    ['leases for a set of names', { leases: ['ens[123]'] }, /^LeasedByHost/],
    ['leases for other names', { leases: ['eth*', 'ens?0', 'en[s'] }, /^accepted/],
    ['leases for all but a set of names', { leases: ['[!a]ns1'] }, /^LeasedByHost/],
    ['configures every such name', { patterns: ['en*'] }, /^NICInUse.*named en\*/],
    ['configures other names', { patterns: ['eth*'] }, /^accepted/],
    ['names the NIC as it is to be called', { names: ['multinic0'] }, /^NICInUse/],
    ['leases for names such as it is to have', { leases: ['multi*'] }, /^LeasedByHost/],
    ['leaves the NIC out', { leases: ['*'], except: ['ens[1-3]'] }, /^accepted/],
    ['leaves the NIC out by its MAC', { patterns: ['*'], except: [macOf(1)] }, /^accepted/],
    ['leaves others out', { leases: ['*'], except: ['ens2', macOf(2)] }, /^LeasedByHost/],
    ['names another NIC', { names: ['ens3'] }, /^accepted/],
    ['leases for all but sets of names', { leases: ['[^a]ns1'] }, /^LeasedByHost/],
    ['is not about any of its names', { leases: ['en*'], notNames: ['ens?'] }, /^accepted/],
    ['is about one of its names', { leases: ['*'], notNames: ['ens1'] }, /^LeasedByHost/],
    ['names the NIC and takes it back', { names: ['ens1'], notNames: ['en*'] }, /^accepted/],
  ])('that %s', (_, more, words) => {
    expect(alone(theirs(more))).toMatch(words);
  });

  test('that names the NIC by an alternative name', () => {
    const links = [link(1, { altNames: ['enp0s1'] })];
    expect(alone(theirs({ names: ['enp0s1'] }), links)).toMatch(/^NICInUse/);
  });
});

test('a file for the name that a NIC of ours had is not about it once another NIC has that name', () => {
  const record = { mac: macOf(1), index: 0, originalName: 'ens1', addresses: ['10.0.0.1/24'] };
  const known = { ...record, table: 100, priority: 10_100, files: [] };
  const refusals = (links: Parameters<typeof host>[0]) => {
    const on = host(links, theirs({ names: ['ens1'] }));
    return planApply(input([entry(1)], on, { ...emptyState, nics: [known] })).refused;
  };
  const ours = link(1, { name: 'multinic0' });
  expect(refusals([ours])).toMatchObject([{ refusal: { reason: 'NICInUse' } }]);
  expect(refusals([ours, link(7, { name: 'ens1' })])).toEqual([]);
});

function told([nic]: readonly RefusedNic[]): string {
  return nic ? `${nic.refusal.reason}: ${nic.refusal.message}` : 'accepted';
}

const byGateway = { via: '10.200.0.254' };

describe('a route of main by a gateway', () => {
  test.each<[string, string, Partial<Route>, RegExp]>([
    ['wider than the subnet is like a default route', '10.0.0.0/8', byGateway, /^accepted/],
    ['for half of the internet is one, too', '0.0.0.0/1', byGateway, /^accepted/],
    ['by several gateways is one, too', '10.0.0.0/8', { behindGateway: true }, /^accepted/],
    ['as wide as the subnet overlaps', '10.0.0.0/24', byGateway, /^SubnetOverlapsForeign/],
    ['narrower than the subnet overlaps', '10.0.0.64/26', byGateway, /^SubnetOverlapsForeign/],
    ['is none when it is on the link', '10.0.0.0/8', {}, /^SubnetOverlapsForeign/],
    ['is none when it is a blackhole', '10.0.0.0/8', { type: 6 }, /^SubnetOverlapsForeign/],
  ])('%s', (_, to, more, words) => {
    const name = more.type === undefined ? 'eth0' : undefined;
    expect(alone({ routes: [route(to, name, more)] })).toMatch(words);
  });

  const pods = link(7, { name: 'cilium_host', kind: 'veth', up: true });
  const bond = link(8, { name: 'bond0', kind: 'bond', up: true });
  const wayOut = [route('0.0.0.0/0', 'bond0', { via: '10.9.0.254' })];
  test.each<[string, readonly string[], readonly Route[], RegExp]>([
    ['a second NIC', ['ens2'], [], /^accepted/],
    ['a link to Pods', ['cilium_host'], [], /^SubnetOverlapsForeign.*of cilium_host/],
    ['a NIC and a link to Pods', ['eth0', 'cilium_host'], [], /^SubnetOverlapsForeign/],
    ['a bond with a default route', ['bond0'], wayOut, /^accepted/],
    ['another bond', ['bond0'], [], /^SubnetOverlapsForeign/],
    [
      'a bond with a default route of another table',
      ['bond0'],
      wayOut.map((each) => ({ ...each, table: 200 })),
      /^SubnetOverlapsForeign/,
    ],
    ['a link that nobody knows', [], [], /^SubnetOverlapsForeign/],
  ])('that is wider and leaves by %s', (_, links, others, words) => {
    const wider = { ...route('10.0.0.0/8', undefined, byGateway), links };
    expect(alone({ routes: [wider, ...others] }, [link(1), link(2), pods, bond])).toMatch(words);
  });

  test.each<[string, string, RegExp]>([
    ['narrower', '10.9.1.0/24', /^SubnetOverlapsForeign.*10.9.1.0\/24/],
    ['as wide', '10.9.0.0/16', /^SubnetOverlapsForeign.*10.9.0.0\/16/],
  ])('overlaps a route that the NIC would get in main and that is %s', (_, to, words) => {
    const on = host([link(1)], { routes: [route('10.9.0.0/16', 'eth0', byGateway)] });
    const wanted = entry(1, { routing: 'main', routes: [{ to, via: '10.0.0.254' }] });
    expect(told(planApply(input([wanted], on)).refused)).toMatch(words);
  });

  test.each<[string, Route, RegExp]>([
    ['wider', route('10.0.0.0/8', 'eth0', byGateway), /^accepted/],
    ['as wide', route('10.0.0.0/24', 'eth0', byGateway), /^accepted/],
    ['wider and on a link', route('10.0.0.0/8', 'tun0'), /^accepted/],
    ['narrower', route('10.0.0.64/26', 'eth0', byGateway), /^SubnetOverlapsForeign/],
    ['in the way of a new subnet', route('10.7.0.0/24', 'eth0', byGateway), /^SubnetOverlaps/],
  ])('that comes after the NIC, %s', (_, late, words) => {
    const ours = link(1, { name: 'multinic0', up: true });
    const on = host([ours], { addresses: [address('multinic0', '10.0.0.1/24')], routes: [late] });
    const known = { mac: macOf(1), index: 0, originalName: 'ens1', addresses: ['10.0.0.1/24'] };
    const state = { ...emptyState, nics: [{ ...known, table: 100, priority: 10_100, files: [] }] };
    const subnet = late.to.startsWith('10.7.') ? '10.7.0' : '10.0.0';
    const more = { addresses: [`${subnet}.1/24`], gateway: `${subnet}.254` };
    const wanted = entry(1, { mtu: 1400, ...more });
    expect(told(planApply(input([wanted], on, state)).refused)).toMatch(words);
  });
});

describe('a subnet', () => {
  test.each<[string, Partial<Snapshot>, RegExp]>([
    [
      'that an unusable entry has on its NIC is not free',
      { addresses: [address('ens3', '10.0.0.9/24')] },
      /^SubnetOverlapsForeign/,
    ],
    [
      'of a link that is the way out of another table is not the primary one',
      {
        addresses: [address('other0', '10.0.0.9/24')],
        routes: [route('0.0.0.0/0', 'other0', { table: 200 })],
      },
      /^SubnetOverlapsForeign/,
    ],
    ['with a route of main into it', { routes: [route('10.0.0.128/25', 'eth0')] }, /^SubnetOver/],
    [
      'with an unreachable part',
      { routes: [route('10.0.0.64/26', undefined, { type: 7 })] },
      /^SubnetOver/,
    ],
    [
      'with a route of another table into it',
      { routes: [route('10.0.0.0/24', 'eth0', { table: 7 })] },
      /^accepted/,
    ],
    [
      'with an address that has no subnet',
      { addresses: [address('lo', '10.0.0.77/32')] },
      /^accepted/,
    ],
  ])('%s', (_, on, words) => {
    expect(alone(on)).toMatch(words);
  });
});
