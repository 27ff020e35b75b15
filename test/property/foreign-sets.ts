import * as fc from 'fast-check';
import type { Snapshot } from '../../src/agent/snapshot.ts';
import { type Family, type RequestInterface, routings } from '../../src/api/job.ts';
import {
  address,
  entry,
  freshSettings,
  host,
  link,
  route,
  rule,
} from '../fixtures/agent-samples.ts';

/** Something that others have on a host: how `ip` makes it, and what the kernel then has. */
export interface Foreign {
  readonly line: string;
  readonly adds: Partial<Pick<Snapshot, 'addresses' | 'routes' | 'rules'>>;
}

/** Links of others, of a container network and of a VPN, as `ip` makes them. Without a carrier IPv6 probes for ever. */
export const foreignLinks = ['cni0', 'vpn0'].flatMap((name) => [
  `link add ${name} type veth peer name ${name}-peer`,
  `link set dev ${name} addrgenmode none up`,
]);

const ofOurs = { tables: [100, 101, 102], priorities: [10_100, 10_101, 10_102] } as const;
const table = fc.constantFrom(200, 254, 500, 254, 200, 500, ...ofOurs.tables);
const priority = fc.constantFrom(111, 10_050, 32_000, 111, 10_050, 32_000, ...ofOurs.priorities);
/** Of the kernel, `ip`, an administrator, a router's advertisement, BIRD. */
const protocol = fc.constantFrom(2, 3, 4, 9, 12);

const someRule = fc
  .record({
    from: fc.constantFrom(
      '10.244.0.0/16',
      '10.9.0.1/32',
      '10.0.0.77/32',
      'fd44::/64',
      'fd00::77/128',
    ),
    table,
    priority,
    protocol,
  })
  .map(({ from, ...item }): Foreign => {
    const words = `table ${item.table} priority ${item.priority} protocol ${item.protocol}`;
    const line = `${familyOption(from)}rule add from ${from} ${words}`;
    return {
      line,
      adds: { rules: [rule(from, item.table, item.priority, { protocol: item.protocol })] },
    };
  });

function familyOption(to: string): string {
  return to.includes(':') ? '-6 ' : '';
}

const someRoute = fc
  .record({
    to: fc.constantFrom('10.77.0.0/24', '10.245.0.0/24', '172.20.0.0/16', 'fd77::/48', 'fd55::/48'),
    way: fc.constantFrom('link', 'gateway', 'blackhole', 'multipath'),
    table,
    protocol,
    metric: fc.constantFrom(50, 100, 101, 1024),
  })
  .map(({ to, way, ...item }): Foreign => {
    const six = to.includes(':');
    const words = `table ${item.table} proto ${item.protocol} metric ${item.metric}`;
    const added = (how: string, links: readonly string[], more: object): Foreign => ({
      line: `${familyOption(to)}route add ${how.replace('TO', `${to} ${words}`)}`,
      adds: { routes: [{ ...route(to, undefined, { ...item, ...more }), links }] },
    });
    if (way === 'blackhole') return added('blackhole TO', [], { type: 6 });
    if (way === 'link' || six) return added('TO dev cni0', ['cni0'], { scope: six ? 0 : 253 });
    if (way === 'gateway') return added('TO via 10.200.0.254', ['eth0'], { via: '10.200.0.254' });
    const hops = 'nexthop via 10.200.0.254 dev eth0 nexthop dev cni0';
    return added(`TO ${hops}`, ['eth0', 'cni0'], { opaque: true });
  });

const someAddress = fc
  .constantFrom(
    ['cni0', '10.88.0.1/24'],
    ['cni0', '10.0.0.200/24'],
    ['vpn0', '10.1.0.1/16'],
    ['vpn0', 'fd88::1/64'],
    ['cni0', 'fd00::99/64'],
    // On NICs that are asked for.
    ['ens2', '10.7.0.1/24'],
    ['ens3', '10.0.0.203/24'],
  )
  .map(([dev, cidr]): Foreign => {
    const probe = cidr?.includes(':') ? ({ probe: 'going on' } as const) : {};
    return {
      line: `addr add ${cidr} dev ${dev}`,
      adds: { addresses: [address(dev, cidr, probe)] },
    };
  });

/** What others have on a host beside its own network. */
const foreignSet = fc.uniqueArray(
  fc.oneof(
    { weight: 3, arbitrary: someRule },
    { weight: 3, arbitrary: someRoute },
    { weight: 1, arbitrary: someAddress },
  ),
  // The kernel has one route of a destination, table and metric.
  {
    maxLength: 12,
    selector: ({ line }) => line.replace(/proto(col)? \d+|via.*|dev.*|blackhole/g, ''),
  },
);

/** The host before anything is asked for. */
export function hostWith(set: readonly Foreign[]): Snapshot {
  const nics = [link(1), link(2), link(3)];
  const others = ['cni0', 'vpn0'].map((name, at) =>
    link(30 + at, { name, kind: 'veth', up: true, addressMode: 'none' }),
  );
  return host([...nics, ...others], {
    addresses: set.flatMap(({ adds }) => adds.addresses ?? []),
    routes: set.flatMap(({ adds }) => adds.routes ?? []),
    rules: set.flatMap(({ adds }) => adds.rules ?? []),
    settings: new Map(nics.map(({ name }) => [name, freshSettings])),
  });
}

const someEntry = (n: number) =>
  fc
    .record({
      addresses: fc.subarray(
        [
          `10.0.0.${n}/24`,
          `10.0.0.${n + 50}/24`,
          `10.2.${n}.1/24`,
          `fd00::${n}/64`,
          `fd02:${n}::1/64`,
        ],
        { minLength: 1, maxLength: 3 },
      ),
      routing: fc.constantFrom(...routings),
      mtu: fc.constantFrom(1300, 1450),
      routed: fc.boolean(),
    })
    .map(({ addresses, routing, mtu, routed }): RequestInterface => {
      const { gateway, ...bare } = entry(n, { addresses, routing, mtu });
      const [four, six] = ['10.0.0.', 'fd00::'].map((begin) =>
        addresses.some((cidr) => cidr.startsWith(begin)),
      );
      const routes = [
        ...(four ? [{ to: '10.77.0.0/24', via: '10.0.0.253' }] : []),
        ...(six ? [{ to: 'fd77::/48', via: 'fd00::fd' }] : []),
      ];
      return {
        ...bare,
        ...(four && gateway ? { gateway } : {}),
        ...(six ? { gateway6: 'fd00::fe' } : {}),
        routes: routed ? routes : [],
      };
    });

const someIntent = fc
  .subarray([1, 2, 3], { minLength: 1 })
  .chain((numbers) => fc.tuple(...numbers.map(someEntry)));

/** A host of some family, what others have on it, and what it is asked for one after the other. */
export const someStory = fc.record({
  family: fc.constantFrom<Family>('netplan', 'networkd', 'keyfile', 'ifcfg'),
  set: foreignSet,
  intents: fc.tuple(someIntent, someIntent),
  /** The line that the kernel refuses once. */
  refused: fc.nat(30),
});
export type Story = typeof someStory extends fc.Arbitrary<infer S> ? S : never;
