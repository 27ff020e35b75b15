import * as fc from 'fast-check';
import type { DesiredNic } from '../../src/agent/planning/desired.ts';
import type { NicRoute } from '../../src/agent/planning/nic-state.ts';
import { macOf } from './agent-samples.ts';

/** A NIC with an address, routes and a rule of its own, as planning makes it. */
export function desired(n: number, more: Partial<DesiredNic> = {}): DesiredNic {
  const index = n - 1;
  const table = 100 + index;
  const common = { table, metric: table, protocol: 4 };
  return {
    index,
    name: `multinic${index}`,
    mac: macOf(n),
    mtu: 1450,
    table,
    addresses: [`10.0.0.${n}/24`],
    routes: [
      { to: '10.0.0.0/24', scope: 253, src: `10.0.0.${n}`, ...common },
      { to: '0.0.0.0/0', via: '10.0.0.254', scope: 0, ...common },
      { to: '10.77.0.0/24', scope: 253, ...common, table: 254 },
    ],
    rules: [{ from: `10.0.0.${n}/32`, table, priority: 10_100 + index, protocol: 2 }],
    ...more,
  };
}

/** The same with addresses of both IP versions. */
export function dual(n: number): DesiredNic {
  const four = desired(n);
  const { table } = four;
  const common = { table, metric: table, protocol: 4, scope: 0 };
  return {
    ...four,
    addresses: [...four.addresses, `fd00::${n}/64`, `fd00::1:${n}/64`],
    routes: [
      ...four.routes,
      { to: 'fd00::/64', src: `fd00::${n}`, ...common },
      { to: '::/0', via: 'fd00::fe', ...common },
    ],
    rules: [
      ...four.rules,
      { from: `fd00::${n}/128`, table, priority: 10_100 + four.index, protocol: 2 },
    ],
  };
}

/** The second one of addresses of IPv6 alone. */
export function onlyIpv6(n: number): DesiredNic {
  return desired(n, { addresses: [`fd00::${n}/64`], routes: [], rules: [] });
}

const someFamily = (six: boolean, table: number) => {
  const ip = (n: number) => (six ? `fd00:${n.toString(16)}::1` : `10.${n}.0.1`);
  const subnet = (n: number) => (six ? `fd00:${n.toString(16)}::/64` : `10.${n}.0.0/16`);
  const route = fc.record({
    to: fc.oneof(fc.nat(255).map(subnet), fc.constant(six ? '::/0' : '0.0.0.0/0')),
    via: fc.option(fc.nat(255).map(ip), { nil: undefined }),
    src: fc.option(fc.nat(255).map(ip), { nil: undefined }),
    table: fc.constantFrom(table, 254),
    metric: fc.nat(4_294_967_295),
  });
  return fc.record({
    addresses: fc
      .uniqueArray(fc.nat(255), { minLength: 1, maxLength: 4 })
      .map((all) => all.map((n) => `${ip(n)}/${six ? 64 : 16}`)),
    routes: fc.array(route, { maxLength: 4 }).map((all) =>
      all.map(({ via, src, ...rest }): NicRoute => {
        const scope = via || six ? 0 : 253;
        return { ...rest, protocol: 4, scope, ...(via ? { via } : {}), ...(src ? { src } : {}) };
      }),
    ),
    rules: fc.uniqueArray(fc.nat(255), { maxLength: 4 }).map((all) =>
      all.map((n) => ({
        from: `${ip(n)}/${six ? 128 : 32}`,
        table,
        priority: table + 10_000,
        protocol: 2,
      })),
    ),
  });
};

/** Any NIC that planning might want, of either IP version or of both. */
export const someDesired: fc.Arbitrary<DesiredNic> = fc.nat(9).chain((index) => {
  const table = 100 + index;
  const families = fc.constantFrom([false], [true], [false, true]);
  return fc
    .record({ n: fc.nat(255), mtu: fc.integer({ min: 1280, max: 65_535 }), families })
    .chain(({ n, mtu, families: chosen }) =>
      fc.tuple(...chosen.map((six) => someFamily(six, table))).map((all) => ({
        ...desired(index + 1, { mac: macOf(n), mtu }),
        addresses: all.flatMap(({ addresses }) => addresses),
        routes: all.flatMap(({ routes }) => routes),
        rules: all.flatMap(({ rules }) => rules),
      })),
    );
});
