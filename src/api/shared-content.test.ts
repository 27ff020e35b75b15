import { expect, it } from 'vitest';
import { changedShared, sharedAfter, sharedOf } from './shared-content.ts';

const mac = (n: number) => `fa:16:3e:00:00:0${n}`;

/** A NIC in subnet `a`. */
function nic(change: object = {}) {
  return { macAddress: mac(0), subnetId: 'a', cidr: '10.0.0.0/24', mtu: 1450, ...change };
}

const further = { cidr: '10.1.0.0/24', gateway: '10.1.0.1', routes: [] };
const before = [
  nic({ gateway: '10.0.0.1', subnets: [further] }),
  nic({ macAddress: mac(1), subnetId: 'b' }),
];

it.each<[string, readonly unknown[], readonly string[]]>([
  ['the same entries', before, []],
  [
    'a new address, port and MAC',
    [
      nic({
        gateway: '10.0.0.1',
        subnets: [further],
        macAddress: mac(5),
        address: '10.0.0.9',
        portId: 'x',
      }),
    ],
    [],
  ],
  ['a further NIC in a subnet', [...before, nic({ gateway: '10.0.0.1', macAddress: mac(2) })], []],
  ['a further subnet', [...before, nic({ subnetId: 'c', mtu: 9000 })], []],
  ['no entry', [], []],
  ['an empty route list', [nic({ gateway: '10.0.0.1', routes: [] })], []],
  [
    'a new MTU',
    [nic({ gateway: '10.0.0.1', mtu: 1400, subnets: [further] })],
    ['10.1.0.0/24', 'a'],
  ],
  ['no gateway', [nic({ subnets: [further] })], ['a']],
  [
    'a route',
    [nic({ gateway: '10.0.0.1', routes: [{ to: '10.9.0.0/16', via: '10.0.0.2' }] })],
    ['a'],
  ],
  [
    'a new gateway in a further subnet',
    [nic({ gateway: '10.0.0.1', subnets: [{ ...further, gateway: '10.1.0.2' }] })],
    ['10.1.0.0/24'],
  ],
  [
    'a new routing in two subnets',
    before.map((one) => ({ ...one, routing: 'main' })),
    ['routing=main'],
  ],
  ['routing pbr by name', before.map((one) => ({ ...one, routing: 'pbr' })), []],
  ['two different NICs in a subnet', [...before, nic({ mtu: 1400 })], ['a']],
  [
    'entries with wrong types',
    [null, 1, 'a', [], { subnetId: 7, cidr: 'x/y' }, { subnetId: '__proto__' }],
    [],
  ],
])('changedShared finds changed subnet settings with %s', (_case, entries, expected) => {
  const changes = changedShared(sharedOf(before), sharedOf(entries));
  expect(changes.map((change) => change.replace(/:[0-9a-f]{8}$/, ''))).toEqual(expected);
});

const network = ['a', 'b'].map((subnetId, at) =>
  nic({ macAddress: mac(at), networkId: 'n', subnetId }),
);
const dual = nic({ addresses: ['10.0.0.5/24', 'fd00::5/64'] });

it.each<[string, readonly object[], readonly object[], readonly string[]]>([
  [
    'a new MTU of a network with two subnets',
    network,
    network.map((one) => ({ ...one, mtu: 9000 })),
    ['n'],
  ],
  [
    'a new MTU in the second subnet of a network',
    network.slice(1),
    [{ ...network[1], mtu: 9000 }],
    ['n'],
  ],
  [
    'a first gateway in a further subnet',
    [dual],
    [{ ...dual, subnets: [{ cidr: 'fd00::/64', gateway: 'fd00::1' }] }],
    ['fd00::/64'],
  ],
  [
    'no gateway any more in a further subnet',
    [{ ...dual, subnets: [{ cidr: 'fd00::/64', gateway: 'fd00::1' }] }],
    [dual],
    ['fd00::/64'],
  ],
  ['a further address in a new subnet', [nic()], [dual], []],
  ['a new MTU of a NIC without network id', [dual], [{ ...dual, mtu: 1400 }], ['a']],
])('changedShared finds %s once', (_case, was, now, expected) => {
  const changes = changedShared(sharedOf(was), sharedOf(now));
  expect(changes.map((change) => change.replace(/:[0-9a-f]{8}$/, ''))).toEqual(expected);
});

it('sharedOf names a subnet without an id by network', () => {
  const hosts = ['10.0.0.10/24', '10.0.0.11/24'].map((cidr) => sharedOf([{ cidr, mtu: 1450 }]));
  expect(Object.keys(hosts[0] ?? {})).toEqual(['10.0.0.0/24']);
  expect(hosts[0]).toEqual(hosts[1]);
  expect(Object.keys(sharedOf([{ addresses: ['fd00::5/64'] }]))).toEqual(['fd00::/64']);
});

it('sharedAfter keeps recorded subnet settings while a NIC stays unchanged', () => {
  const record = sharedOf(before);
  const now = [
    nic({ mtu: 1400 }),
    nic({ macAddress: mac(2), mtu: 1400 }),
    nic({ macAddress: mac(1), subnetId: 'b', routing: 'main' }),
  ];
  const run = (requested: readonly number[], kept: readonly number[]) =>
    sharedAfter(
      now,
      { requested: new Set(requested.map(mac)), kept: new Set(kept.map(mac)) },
      record,
    );
  const b = { b: sharedOf(now)['b'], 'b/routing': 'main' };
  expect(run([0, 1, 2], [])).toEqual(sharedOf(now));
  expect(run([1, 2], [0])).toEqual({ ...record, ...b });
  expect(run([2], [0, 1])).toEqual(record);
  expect(
    sharedAfter(now, { requested: new Set([mac(1)]), kept: new Set([mac(0)]) }, undefined),
  ).toEqual(b);
});
