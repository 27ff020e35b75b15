import { expect, test } from 'vitest';
import { address, host, link, route } from '../../../test/fixtures/agent-samples.ts';
import { hostWithoutLeases, isLeased } from './leases.ts';

const nic = link(1, { up: true });
const theirs = link(2, { up: true });
const profile = { path: '/run/x', text: '', mode: 0o600, macs: [] };
const own = { ...profile, leases: ['ens1'], generated: true } as const;

test("hostWithoutLeases removes only a link's leased state, and keeps static and foreign state", () => {
  const stays = {
    addresses: [
      address('ens1', '10.7.0.1/24'),
      address('ens2', '10.8.0.1/24', { temporary: true }),
    ],
    routes: [
      route('10.9.0.0/16', 'ens1', { protocol: 4 }),
      route('10.8.0.0/24', 'ens2', { protocol: 16 }),
    ],
    files: [
      { ...profile, leases: ['ens1'] },
      { ...own, leases: ['ens2'] },
      { ...profile, patterns: ['ens1'], generated: true as const },
    ],
  };
  const leased = host([nic, theirs], {
    addresses: [...stays.addresses, address('ens1', '10.0.0.50/24', { temporary: true })],
    routes: [
      ...stays.routes,
      route('10.0.0.0/24', 'ens1', { protocol: 2 }),
      route('0.0.0.0/0', 'ens1', { protocol: 16 }),
      route('::/0', 'ens1', { protocol: 9 }),
    ],
    files: [...stays.files, own],
  });
  const { addresses, routes, files } = hostWithoutLeases(leased, ['ens1']);
  expect(addresses.filter(({ link: on }) => on !== 'eth0')).toEqual(stays.addresses);
  expect(routes).toEqual(expect.arrayContaining(stays.routes));
  const rest = routes.filter(({ links }) => links.includes('ens1')).map(({ to }) => to);
  expect(rest).toEqual(['10.9.0.0/16']);
  expect(files).toEqual(stays.files);
});

test('isLeased is true for an expiring address or an announced route', () => {
  const lease = { addresses: [address('ens1', '10.0.0.50/24', { temporary: true })] };
  expect(isLeased(host([nic, theirs], lease), 'ens1')).toBe(true);
  expect(isLeased(host([nic, theirs], lease), 'ens2')).toBe(false);
  for (const [protocol, is] of [
    [16, true],
    [9, true],
    [4, false],
    [2, false],
  ] as const) {
    const on = host([nic], { routes: [route('10.9.0.0/16', 'ens1', { protocol })] });
    expect(isLeased(on, 'ens1')).toBe(is);
  }
});
