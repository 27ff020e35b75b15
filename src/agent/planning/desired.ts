import { broadcastOf, ipOf, networkOf, prefixOf } from '../../api/address.ts';
import type { RequestInterface } from '../../api/job.ts';
import { interfaceName, routingTable, rulePriority } from '../../api/names.ts';
import { type Link, rt } from '../snapshot.ts';
import { minIpv6Mtu, type NicRoute, type NicRule, type NicState, routeText } from './nic-state.ts';
import { lastingSettings } from './settings.ts';

/** One NIC as it shall be, in the kernel and in the files for the next boot alike. */
export interface DesiredNic {
  readonly index: number;
  readonly name: string;
  readonly mac: string;
  readonly mtu: number;
  readonly table: number;
  /** `ip/prefix`; the first of a subnet is its primary address. */
  readonly addresses: readonly string[];
  readonly routes: readonly NicRoute[];
  readonly rules: readonly NicRule[];
}

/**
 * What an entry asks of a link. The attributes are those that networkd gives to what it reads from files, so that a reboot
 * changes nothing; but rules are the kernel's, as networkd drops all others that are not in its files whenever it sets a
 * link. `present` are the addresses the link has: their order decides which one of a subnet is primary.
 */
export function desiredNic(
  entry: RequestInterface,
  index: number,
  link: Link,
  present: readonly string[],
): DesiredNic {
  const table = routingTable(index);
  const addresses = inOrder(entry.addresses, present);
  return {
    index,
    name: interfaceName(index),
    mac: entry.mac,
    mtu: entry.mtu ?? link.mtu,
    table,
    addresses,
    ...routed(entry, index, addresses),
  };
}

/** The connected route of each subnet is the kernel's, whatever the mode. */
function routed(entry: RequestInterface, index: number, addresses: readonly string[]) {
  const table = routingTable(index);
  if (entry.routing === 'isolated') return { routes: [], rules: [] };
  if (entry.routing === 'main') {
    return { routes: distinct(askedRoutes(entry, rt.mainTable, table)), rules: [] };
  }
  const routes = [
    ...subnetRoutes(addresses, table),
    ...(entry.gateway ? [route('0.0.0.0/0', table, table, { via: entry.gateway })] : []),
    ...askedRoutes(entry, table, table),
  ];
  const rules = addresses.map((cidr) => ({
    from: `${ipOf(cidr)}/32`,
    table,
    priority: rulePriority(index),
    protocol: rt.protocolKernel,
  }));
  return { routes: distinct(routes), rules };
}

/** Its routes in tables that it shares with others. */
export function sharedRoutes({ routes, table }: Pick<DesiredNic, 'routes' | 'table'>): NicRoute[] {
  return routes.filter((item) => item.table !== table);
}

function askedRoutes({ routes }: RequestInterface, table: number, usual: number): NicRoute[] {
  return routes.map(({ to, via, metric }) =>
    route(networkOf(to), table, metric ?? usual, via ? { via } : {}),
  );
}

/** The NIC's state in the kernel once it is as desired; a link without IPv6 has nothing of it to switch off. */
export function desiredState(nic: DesiredNic): NicState {
  return {
    link: {
      name: nic.name,
      mtu: nic.mtu,
      up: true,
      ...(nic.mtu < minIpv6Mtu ? {} : { addressMode: 'none' }),
      settings: { ...lastingSettings, ...(nic.mtu < minIpv6Mtu ? {} : { 'ipv6.accept_ra': '0' }) },
      addresses: nic.addresses.map((cidr) => {
        const broadcast = broadcastOf(cidr);
        return { cidr, ...(broadcast ? { broadcast } : {}), noPrefixRoute: false };
      }),
      linkLocal: [],
      routes: nic.routes,
    },
    rules: nic.rules,
  };
}

function subnetRoutes(addresses: readonly string[], table: number): NicRoute[] {
  const subnets = new Map<string, string>();
  for (const cidr of addresses) {
    const subnet = networkOf(cidr);
    if (prefixOf(cidr) < 32 && !subnets.has(subnet)) subnets.set(subnet, ipOf(cidr));
  }
  return [...subnets].map(([to, src]) => route(to, table, table, { src }));
}

function route(
  to: string,
  table: number,
  metric: number,
  more: Partial<Pick<NicRoute, 'via' | 'src'>>,
): NicRoute {
  const scope = more.via ? rt.scopeGlobal : rt.scopeLink;
  return { to, table, metric, protocol: rt.protocolStatic, scope, ...more };
}

/**
 * The wanted addresses in the order they are wanted; but those of one subnet that are present come first and as they are,
 * as the first of a subnet is its primary address and cannot change places.
 */
function inOrder(wanted: readonly string[], present: readonly string[]): string[] {
  const rank = (cidr: string) => (present.includes(cidr) ? present.indexOf(cidr) : present.length);
  const bySubnet = new Map<string, string[]>();
  for (const cidr of wanted.toSorted((a, b) => rank(a) - rank(b))) {
    bySubnet.set(networkOf(cidr), [...(bySubnet.get(networkOf(cidr)) ?? []), cidr]);
  }
  return wanted.map((cidr) => bySubnet.get(networkOf(cidr))?.shift() ?? cidr);
}

/** An entry may name the default route or its subnet once more; the kernel has one route for both. */
function distinct(routes: readonly NicRoute[]): NicRoute[] {
  const seen = new Set<string>();
  return routes.filter((item) => {
    const key = routeText({ ...item, src: '' });
    return !seen.has(key) && seen.add(key);
  });
}
