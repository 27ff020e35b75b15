import { describe, expect, test } from 'vitest';
import {
  address,
  host,
  link,
  macOf,
  neighbour,
  route,
} from '../../../test/fixtures/agent-samples.ts';
import { foreignOnNic, restoringOperations, withRoutesBefore } from './foreign-on-nic.ts';
import { batchLine } from './operation.ts';

const nic = {
  mac: macOf(1),
  belongings: { tables: [100], ips: ['10.0.0.1'], routes: [], rules: ['10.0.0.1 table 100'] },
};
const theirs = route('10.8.0.0/16', 'ens1', { protocol: 2, scope: 253, metric: 7 });
const lasting = address('ens1', '10.9.9.9/32');
const known = neighbour('ens1', '10.8.0.9');
const kernel = host([link(1)], {
  addresses: [
    address('ens1', '10.0.0.1/24'),
    lasting,
    address('ens1', '10.4.0.1/24', { temporary: true }),
    address('ens1', '10.5.0.1/24', { opaque: true }),
    address('ens1', '169.254.7.7/32', { scope: 253 }),
    address('ens1', 'fe80::1/64', { scope: 253 }),
  ],
  routes: [
    theirs,
    route('10.5.0.0/16', 'eth0', { src: '10.0.0.1' }),
    route('10.6.0.0/16', 'ens1', { protocol: 2, opaque: true }),
    route('10.6.1.0/24', 'ens1', { type: 6 }),
    route('10.6.2.0/24', 'ens1', { links: ['ens1', 'eth0'] }),
    route('10.6.3.1/32', 'ens1', { protocol: 1 }),
    route('0.0.0.0/0', 'ens1', { table: 100 }),
    route('10.0.0.0/24', 'ens1', { protocol: 2, scope: 253 }),
    route('fe80::/64', 'ens1', { protocol: 2, metric: 256 }),
    route('ff00::/8', 'ens1', { table: 255 }),
  ],
  neighbours: [
    known,
    neighbour('ens1', '10.8.0.8', { opaque: true }),
    neighbour('eth0', '10.2.0.9'),
  ],
});
const had = foreignOnNic(nic, kernel);
const none = { addresses: [], routes: [], neighbours: [] };

/** Returns the operations on multinic0 as lines for `ip`. */
const restoring = (before: typeof had, now: Partial<typeof kernel>) =>
  restoringOperations(before, { ...kernel, ...none, ...now }, 'multinic0').map(batchLine);

/** Returns the restorable state, on this link. */
const stateOn = (dev: string) => ({
  addresses: [{ ...lasting, link: dev }],
  routes: [{ ...theirs, links: [dev] }],
  neighbours: [{ ...known, link: dev }],
});

describe('foreign state on a NIC', () => {
  test("foreignOnNic returns restorable foreign state on the NIC's link", () => {
    expect(had).toEqual({ addresses: [lasting], routes: [theirs], neighbours: [known] });
  });

  test('foreignOnNic returns a connected route in another table', () => {
    const other = route('10.0.0.0/24', 'ens1', { table: 200, protocol: 2, scope: 253 });
    expect(foreignOnNic(nic, { ...kernel, routes: [other] }).routes).toEqual([other]);
  });

  test('foreignOnNic returns nothing for a rules-only NIC, an absent NIC and twins', () => {
    expect(foreignOnNic({ ...nic, rulesOnly: true }, kernel)).toEqual(none);
    expect(foreignOnNic(nic, { ...kernel, links: [] })).toEqual(none);
    const twins = [link(1), link(2, { mac: macOf(1) })];
    expect(foreignOnNic(nic, { ...kernel, links: twins })).toEqual(none);
  });

  test('restoringOperations uses the current link name, addresses first and gateway routes after on-link routes', () => {
    const behind = route('10.7.0.0/16', 'ens1', { protocol: 2, via: '10.8.0.1' });
    expect(restoring({ ...had, routes: [behind, theirs] }, {})).toEqual([
      'addr replace 10.9.9.9/32 dev multinic0',
      'route replace 10.8.0.0/16 dev multinic0 table 254 proto 2 scope 253 metric 7',
      'route replace 10.7.0.0/16 via 10.8.0.1 dev multinic0 table 254 proto 2 scope 0',
      expect.stringMatching(/^neigh \w+ 10.8.0.9 /),
    ]);
  });

  test('restoringOperations leaves out state present on the current link only', () => {
    expect(restoring(had, stateOn('multinic0'))).toEqual([]);
    expect(restoring(had, stateOn('eth0'))).toHaveLength(3);
  });

  test('withRoutesBefore adds routes on the former link name with a free slot', () => {
    const recorded = {
      name: 'ens1',
      routes: [
        theirs,
        route('10.7.0.0/16', 'ens1'),
        route('10.7.1.0/24', 'eth0'),
        route('10.7.2.0/24', 'ens1', { opaque: true }),
      ],
    };
    const taken = host([link(1)], { routes: [route('10.8.0.0/16', 'eth0', { metric: 7 })] });
    expect(withRoutesBefore(none, recorded, taken).routes).toEqual([route('10.7.0.0/16', 'ens1')]);
  });
});
