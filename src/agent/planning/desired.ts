import {
  broadcastOf,
  familyOf,
  hostPrefix,
  ipOf,
  networkOf,
  plainForm,
  prefixOf,
} from '../../api/address.ts';
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
    ...(entry.gateway6 ? [route('::/0', table, table, { via: entry.gateway6 })] : []),
    ...askedRoutes(entry, table, table),
  ];
  const rules = addresses.map((cidr) => ({
    from: `${ipOf(cidr)}/${hostPrefix(familyOf(cidr))}`,
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

/** Whether the NIC has an address of IPv6. */
export function usesIPv6({ addresses }: Pick<DesiredNic, 'addresses'>): boolean {
  return addresses.some((cidr) => familyOf(cidr) === 6);
}

/** The link-local address of a NIC, which neighbours of IPv6 speak to, as the kernel makes it of the MAC (RFC 4291, A). */
export function linkLocalOf(mac: string): string {
  const [a = '', b = '', c = '', d = '', e = '', f = ''] = mac.split(':');
  const universal = (Number.parseInt(a, 16) ^ 2).toString(16).padStart(2, '0');
  return plainForm(`fe80::${universal}${b}:${c}ff:fe${d}:${e}${f}/64`);
}

/** What of IPv6 the link has and has not; nothing of it can be set where the MTU is too small for it. */
function ipv6Of(nic: DesiredNic) {
  if (nic.mtu < minIpv6Mtu) return { settings: {}, linkLocal: [] };
  const noAdvertisements = { 'ipv6.accept_ra': '0' } as const;
  if (!usesIPv6(nic)) return { addressMode: 'none', settings: noAdvertisements, linkLocal: [] };
  return {
    addressMode: 'eui64',
    settings: { ...noAdvertisements, 'ipv6.disable_ipv6': '0' } as const,
    linkLocal: [linkLocalOf(nic.mac)],
  };
}

/** The NIC's state in the kernel once it is as desired. */
export function desiredState(nic: DesiredNic): NicState {
  const { settings, ...six } = ipv6Of(nic);
  return {
    link: {
      name: nic.name,
      mtu: nic.mtu,
      up: true,
      ...six,
      settings: { ...lastingSettings, ...settings },
      addresses: nic.addresses.map((cidr) => {
        const broadcast = broadcastOf(cidr);
        return { cidr, ...(broadcast ? { broadcast } : {}), noPrefixRoute: false };
      }),
      routes: nic.routes,
    },
    rules: nic.rules,
  };
}

/** Those of IPv6 have no source: the kernel takes none that is still being probed, and chooses by prefix (RFC 6724). */
function subnetRoutes(addresses: readonly string[], table: number): NicRoute[] {
  const subnets = new Map<string, string>();
  for (const cidr of addresses) {
    const subnet = networkOf(cidr);
    const single = prefixOf(cidr) === hostPrefix(familyOf(cidr));
    if (!single && !subnets.has(subnet)) subnets.set(subnet, ipOf(cidr));
  }
  return [...subnets].map(([to, src]) =>
    route(to, table, table, familyOf(to) === 4 ? { src } : {}),
  );
}

/** What the kernel makes of a route of IPv6 without a metric (IP6_RT_PRIO_USER). */
const usualMetric6 = 1024;

function route(
  to: string,
  table: number,
  metric: number,
  more: Partial<Pick<NicRoute, 'via' | 'src'>>,
): NicRoute {
  const shared = { to, table, protocol: rt.protocolStatic, ...more };
  // IPv6 knows no scopes of routes.
  if (familyOf(to) === 6)
    return { ...shared, metric: metric || usualMetric6, scope: rt.scopeGlobal };
  return { ...shared, metric, scope: more.via ? rt.scopeGlobal : rt.scopeLink };
}

/**
 * The wanted addresses in the order they are wanted; but those of one subnet that are present come first and as they are,
 * as the first of a subnet is its primary address and cannot change places. IPv6 knows no such thing, and its order in the
 * kernel is another one after each boot.
 */
function inOrder(wanted: readonly string[], present: readonly string[]): string[] {
  const ranked = present.filter((cidr) => familyOf(cidr) === 4);
  const rank = (cidr: string) => (ranked.includes(cidr) ? ranked.indexOf(cidr) : ranked.length);
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
