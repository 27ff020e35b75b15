import { describe, expect, test } from 'vitest';
import {
  address,
  alone,
  entry,
  host,
  input,
  link,
  macOf,
  request,
  route,
  theirs,
} from '../../../test/fixtures/agent-samples.ts';
import type { RequestInterface } from '../../api/job.ts';
import type { Route, Snapshot } from '../snapshot.ts';
import { emptyState } from '../state.ts';
import { planApply } from './plan.ts';
import type { RefusedNic } from './unit.ts';

describe('foreign files against a new NIC', () => {
  test.each([
    ['names the NIC', { names: ['ens1'] }, /^NICInUse/],
    ['is unreadable', { unread: 'EACCES' }, /^NICInUse.*cannot be read: EACCES/],
    ['leases NICs by a matching pattern', { leases: ['en*'] }, /^LeasedByHost.*named en\*/],
    ['leases NICs by a matching name set', { leases: ['ens[123]'] }, /^LeasedByHost/],
    ['leases NICs by non-matching patterns', { leases: ['eth*', 'ens?0', 'en[s'] }, /^accepted/],
    ['leases NICs by a negated name set', { leases: ['[!a]ns1'] }, /^LeasedByHost/],
    ['configures NICs by a matching pattern', { patterns: ['en*'] }, /^NICInUse.*named en\*/],
    ['configures NICs by a non-matching pattern', { patterns: ['eth*'] }, /^accepted/],
    ["names the NIC's desired name", { names: ['multinic0'] }, /^NICInUse/],
    ['leases NICs by a pattern for the desired name', { leases: ['multi*'] }, /^LeasedByHost/],
    ['excludes the NIC by a pattern', { leases: ['*'], except: ['ens[1-3]'] }, /^accepted/],
    ['excludes the NIC by MAC', { patterns: ['*'], except: [macOf(1)] }, /^accepted/],
    ['excludes only other NICs', { leases: ['*'], except: ['ens2', macOf(2)] }, /^LeasedByHost/],
    ['names another NIC', { names: ['ens3'] }, /^accepted/],
    ['leases NICs by a set negated with ^', { leases: ['[^a]ns1'] }, /^LeasedByHost/],
    ['excludes all names through notNames', { leases: ['en*'], notNames: ['ens?'] }, /^accepted/],
    ['still covers the desired name', { leases: ['*'], notNames: ['ens1'] }, /^LeasedByHost/],
    [
      'names the NIC and excludes the name through notNames',
      { names: ['ens1'], notNames: ['en*'] },
      /^accepted/,
    ],
  ])('new NIC, if a foreign file %s', (_, more, words) => {
    expect(alone(theirs(more))).toMatch(words);
  });

  test('new NIC is refused if a foreign file uses an alternative name', () => {
    const links = [link(1, { altNames: ['enp0s1'] })];
    expect(alone(theirs({ names: ['enp0s1'] }), links)).toMatch(/^NICInUse/);
  });
});

test('a former name now used by another NIC does not refuse the managed NIC', () => {
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

function verdictOf([nic]: readonly RefusedNic[]): string {
  return nic ? `${nic.refusal.reason}: ${nic.refusal.message}` : 'accepted';
}

const byGateway = { via: '10.200.0.254' };

describe('gateway routes in main against a new NIC', () => {
  test.each<[string, string, Partial<Route>, RegExp]>([
    [
      'wider than the NIC subnet is accepted like a default route',
      '10.0.0.0/8',
      byGateway,
      /^accepted/,
    ],
    ['to 0.0.0.0/1 is accepted', '0.0.0.0/1', byGateway, /^accepted/],
    ['with several gateways is accepted', '10.0.0.0/8', { behindGateway: true }, /^accepted/],
    ['as wide as the NIC subnet is refused', '10.0.0.0/24', byGateway, /^SubnetOverlapsForeign/],
    [
      'narrower than the NIC subnet is refused',
      '10.0.0.64/26',
      byGateway,
      /^SubnetOverlapsForeign/,
    ],
    ['without a gateway, on the link, is refused', '10.0.0.0/8', {}, /^SubnetOverlapsForeign/],
    ['as a blackhole is refused', '10.0.0.0/20', { type: 6 }, /^SubnetOverlapsForeign/],
    ['as a wide blackhole is accepted', '10.0.0.0/8', { type: 6 }, /^accepted/],
    ["as half of a VPN's default route is accepted", '0.0.0.0/1', {}, /^accepted/],
  ])('gateway route in main %s', (_, to, more, words) => {
    const name = more.type === undefined ? 'eth0' : undefined;
    expect(alone({ routes: [route(to, name, more)] })).toMatch(words);
  });

  const pods = link(7, { name: 'cilium_host', kind: 'veth', up: true });
  const bond = link(8, { name: 'bond0', kind: 'bond', up: true });
  const defaultByBond = [route('0.0.0.0/0', 'bond0', { via: '10.9.0.254' })];
  test.each<[string, readonly string[], readonly Route[], RegExp]>([
    ['a second NIC', ['ens2'], [], /^accepted/],
    ['a link to Pods', ['cilium_host'], [], /^SubnetOverlapsForeign.*of cilium_host/],
    ['a NIC and a link to Pods', ['eth0', 'cilium_host'], [], /^SubnetOverlapsForeign/],
    ['a bond with a default route', ['bond0'], defaultByBond, /^accepted/],
    ['another bond', ['bond0'], [], /^SubnetOverlapsForeign/],
    [
      'a bond with a default route in another table',
      ['bond0'],
      defaultByBond.map((each) => ({ ...each, table: 200 })),
      /^SubnetOverlapsForeign/,
    ],
    ['an unknown link', [], [], /^SubnetOverlapsForeign/],
  ])('gateway route wider than the NIC subnet, leaving by %s', (_, links, others, words) => {
    const wider = { ...route('10.0.0.0/8', undefined, byGateway), links };
    expect(alone({ routes: [wider, ...others] }, [link(1), link(2), pods, bond])).toMatch(words);
  });

  test.each<[string, string, RegExp]>([
    ['narrower', '10.9.1.0/24', /^SubnetOverlapsForeign.*10.9.1.0\/24/],
    ['as wide', '10.9.0.0/16', /^SubnetOverlapsForeign.*10.9.0.0\/16/],
  ])('NIC with a %s route in main overlaps a foreign gateway route', (_, to, words) => {
    const on = host([link(1)], { routes: [route('10.9.0.0/16', 'eth0', byGateway)] });
    const wanted = entry(1, { routing: 'main', routes: [{ to, via: '10.0.0.254' }] });
    expect(verdictOf(planApply(input([wanted], on)).refused)).toMatch(words);
  });

  test.each<[string, Route, RegExp]>([
    ['wider', route('10.0.0.0/8', 'eth0', byGateway), /^accepted/],
    ['as wide', route('10.0.0.0/24', 'eth0', byGateway), /^accepted/],
    ['wider and on a link', route('10.0.0.0/8', 'tun0'), /^accepted/],
    ['narrower', route('10.0.0.64/26', 'eth0', byGateway), /^SubnetOverlapsForeign/],
    ['overlapping a new subnet', route('10.7.0.0/24', 'eth0', byGateway), /^SubnetOverlaps/],
  ])('managed NIC, if a foreign route appears later: %s', (_, late, words) => {
    const ours = link(1, { name: 'multinic0', up: true });
    const on = host([ours], { addresses: [address('multinic0', '10.0.0.1/24')], routes: [late] });
    const known = { mac: macOf(1), index: 0, originalName: 'ens1', addresses: ['10.0.0.1/24'] };
    const state = { ...emptyState, nics: [{ ...known, table: 100, priority: 10_100, files: [] }] };
    const subnet = late.to.startsWith('10.7.') ? '10.7.0' : '10.0.0';
    const more = { addresses: [`${subnet}.1/24`], gateway: `${subnet}.254` };
    const wanted = entry(1, { mtu: 1400, ...more });
    expect(verdictOf(planApply(input([wanted], on, state)).refused)).toMatch(words);
  });
});

describe('subnet checks for a new NIC', () => {
  test.each<[string, Partial<Snapshot>, RegExp]>([
    [
      'is refused on a NIC with an unusable entry',
      { addresses: [address('ens3', '10.0.0.9/24')] },
      /^SubnetOverlapsForeign/,
    ],
    [
      'is foreign, not primary, on a link with a default route in table 200',
      {
        addresses: [address('other0', '10.0.0.9/24')],
        routes: [route('0.0.0.0/0', 'other0', { table: 200 })],
      },
      /^SubnetOverlapsForeign/,
    ],
    [
      'is refused with a route in main inside',
      { routes: [route('10.0.0.128/25', 'eth0')] },
      /^SubnetOver/,
    ],
    [
      'is refused with an unreachable route inside',
      { routes: [route('10.0.0.64/26', undefined, { type: 7 })] },
      /^SubnetOver/,
    ],
    [
      'is accepted with a route in another table',
      { routes: [route('10.0.0.0/24', 'eth0', { table: 7 })] },
      /^accepted/,
    ],
    [
      'is accepted with a foreign /32 address inside',
      { addresses: [address('lo', '10.0.0.77/32')] },
      /^accepted/,
    ],
  ])('new NIC subnet %s', (_, on, words) => {
    expect(alone(on)).toMatch(words);
  });
});

const inMain = (to: string, via = '10.0.0.254') => ({
  routing: 'main' as const,
  routes: [{ to, via }],
});
const nic = (subnet: string) => ({ addresses: [`${subnet}.5/24`], gateway: `${subnet}.254` });

describe('cluster networks against a NIC', () => {
  const services = { cidr: '10.96.0.0/12', use: 'Services', source: 'kubeadm-config' } as const;
  const services6 = { cidr: 'fd00:96::/108', use: 'Services', source: 'ServiceCIDR' } as const;
  const pods = { cidr: '10.244.0.0/16', use: 'Pods', source: 'Node podCIDRs' } as const;
  const oneService = { cidr: '10.0.0.10/32', use: 'Services', source: 'Services' } as const;
  const clusterNetworks = [services, services6, pods];
  test.each<[string, Partial<RequestInterface>, string]>([
    [
      'a subnet inside the Service network is refused with network and source',
      nic('10.96.0'),
      'SubnetOverlapsCluster: 10.96.0.0/24 overlaps 10.96.0.0/12 (Services, from kubeadm-config)',
    ],
    [
      'a subnet wider than the Pod network is refused',
      { addresses: ['10.240.0.5/12'], gateway: '10.240.0.1' },
      'SubnetOverlapsCluster: 10.240.0.0/12 overlaps 10.244.0.0/16 (Pods, from Node podCIDRs)',
    ],
    [
      'an IPv6 subnet inside the Service network is refused',
      { addresses: ['fd00:96::1:5/112'], gateway: undefined },
      'SubnetOverlapsCluster: fd00:96::1:0/112 overlaps fd00:96::/108 (Services, from ServiceCIDR)',
    ],
    [
      'a route in main is refused',
      inMain('10.96.0.0/12'),
      'SubnetOverlapsCluster: 10.96.0.0/12 overlaps 10.96.0.0/12 (Services, from kubeadm-config)',
    ],
    [
      'a route in the table of the NIC is accepted',
      { routes: [{ to: '10.96.0.0/12', via: '10.0.0.254' }] },
      'accepted',
    ],
    ['a subnet beside all networks is accepted', nic('10.112.0'), 'accepted'],
  ])('%s', (_, more, expected) => {
    const { gateway, ...fields } = { ...entry(1), ...more };
    const wanted = gateway === undefined ? fields : { ...fields, gateway };
    const asked = request([wanted], { protocol: 5, clusterNetworks });
    expect(verdictOf(planApply(input(asked, host([link(1)]))).refused)).toBe(expected);
  });

  test('a subnet around a Service address is refused', () => {
    const asked = request([entry(1)], { protocol: 5, clusterNetworks: [oneService] });
    expect(verdictOf(planApply(input(asked, host([link(1)]))).refused)).toBe(
      'SubnetOverlapsCluster: 10.0.0.0/24 overlaps 10.0.0.10/32 (Services, from Services)',
    );
  });

  test('a request without networks accepts a subnet inside the Service network', () => {
    const on = host([link(1)]);
    expect(planApply(input([entry(1, nic('10.96.0'))], on)).refused).toEqual([]);
  });

  test.each<[string, Partial<RequestInterface>, RegExp]>([
    ['stays with the same subnet', {}, /^accepted/],
    ['stays with another MTU', { mtu: 1400 }, /^accepted/],
    ['stays with a narrower subnet', { addresses: ['10.96.0.1/25'] }, /^accepted/],
    [
      'is refused a second subnet',
      { addresses: ['10.96.0.1/24', '10.97.0.1/24'] },
      /10.97.0.0\/24/,
    ],
    ['is refused a new route', inMain('10.244.0.0/16', '10.96.0.254'), /10.244.0.0\/16 overlaps/],
    ['is refused a wider subnet', { addresses: ['10.96.0.1/16'] }, /10.96.0.0\/16 overlaps/],
  ])('a managed NIC inside the Service network %s', (_, more, words) => {
    const ours = link(1, { name: 'multinic0', up: true });
    const on = host([ours], { addresses: [address('multinic0', '10.96.0.1/24')] });
    const known = { mac: macOf(1), index: 0, originalName: 'ens1', addresses: ['10.96.0.1/24'] };
    const state = { ...emptyState, nics: [{ ...known, table: 100, priority: 10_100, files: [] }] };
    const wanted = entry(1, { addresses: ['10.96.0.1/24'], gateway: '10.96.0.126', ...more });
    const asked = request([wanted], { protocol: 5, clusterNetworks });
    expect(verdictOf(planApply(input(asked, on, state)).refused)).toMatch(words);
  });

  test('a managed NIC keeps its recorded route into the Pod network', () => {
    const ours = link(1, { name: 'multinic0', up: true });
    const on = host([ours], { addresses: [address('multinic0', '10.0.0.1/24')] });
    const routes = [{ to: '10.244.0.0/16', table: 254, metric: 1000 }];
    const known = { mac: macOf(1), index: 0, originalName: 'ens1', addresses: ['10.0.0.1/24'] };
    const nics = [{ ...known, routes, table: 100, priority: 10_100, files: [] }];
    const asked = request([entry(1, inMain('10.244.0.0/16'))], { protocol: 5, clusterNetworks });
    expect(planApply(input(asked, on, { ...emptyState, nics })).refused).toEqual([]);
  });
});
