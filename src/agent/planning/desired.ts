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
import type { NicRecord } from '../state.ts';
import { minIpv6Mtu, type NicRoute, type NicRule, type NicState, routeText } from './nic-state.ts';
import { lastingSettings } from './settings.ts';

/** Desired state of one NIC, identical for the kernel and the boot files. */
export interface DesiredNic {
  readonly index: number;
  readonly name: string;
  readonly mac: string;
  readonly mtu: number;
  readonly table: number;
  /** `ip/prefix`; the first address per subnet is primary. */
  readonly addresses: readonly string[];
  readonly routes: readonly NicRoute[];
  readonly rules: readonly NicRule[];
  /** Ids for foreign definitions ending with the adoption; absent: not adopted. */
  readonly adopted?: readonly string[];
}

/**
 * Returns the NIC an entry requests. Route attributes equal networkd's defaults for files, so a reboot changes nothing.
 * Rules use protocol kernel: networkd deletes foreign rules missing in its files whenever it configures a link.
 * `present` lists the link's addresses: their order decides the primary address per subnet.
 */
export function desiredNic(
  entry: RequestInterface,
  index: number,
  link: Link,
  present: readonly string[],
): DesiredNic {
  const table = routingTable(index);
  const addresses = inKernelOrder(entry.addresses, present);
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

/** The kernel makes each subnet's connected route, in every routing mode. */
function routed(entry: RequestInterface, index: number, addresses: readonly string[]) {
  const table = routingTable(index);
  if (entry.routing === 'isolated') return { routes: [], rules: [] };
  if (entry.routing === 'main') {
    return { routes: distinct(requestedRoutes(entry, rt.mainTable, table)), rules: [] };
  }
  const routes = [
    ...subnetRoutes(addresses, table),
    ...(entry.gateway ? [route('0.0.0.0/0', table, table, { via: entry.gateway })] : []),
    ...(entry.gateway6 ? [route('::/0', table, table, { via: entry.gateway6 })] : []),
    ...requestedRoutes(entry, table, table),
  ];
  const rules = addresses.map((cidr) => ({
    from: `${ipOf(cidr)}/${hostPrefix(familyOf(cidr))}`,
    table,
    priority: rulePriority(index),
    protocol: rt.protocolKernel,
  }));
  return { routes: distinct(routes), rules };
}

/** Returns the NIC's routes in tables shared with other software. */
export function sharedRoutes({ routes, table }: Pick<DesiredNic, 'routes' | 'table'>): NicRoute[] {
  return routes.filter((item) => item.table !== table);
}

/** Returns the routes in the NIC's own table, in the form of a record. */
export function tableRoutes({
  routes,
  table,
}: Pick<DesiredNic, 'routes' | 'table'>): NonNullable<NicRecord['tableRoutes']> {
  const own = routes.filter((item) => item.table === table);
  return own.map(({ to, via }) => ({ to, ...(via ? { via } : {}) }));
}

function requestedRoutes({ routes }: RequestInterface, table: number, usual: number): NicRoute[] {
  return routes.map(({ to, via, metric }) =>
    route(networkOf(to), table, metric ?? usual, via ? { via } : {}),
  );
}

/** True if the NIC has an IPv6 address. */
export function usesIPv6({ addresses }: Pick<DesiredNic, 'addresses'>): boolean {
  return addresses.some((cidr) => familyOf(cidr) === 6);
}

/** Returns the IPv6 link-local address the kernel derives from the MAC (RFC 4291, A). */
export function linkLocalOf(mac: string): string {
  const [a = '', b = '', c = '', d = '', e = '', f = ''] = mac.split(':');
  const universal = (Number.parseInt(a, 16) ^ 2).toString(16).padStart(2, '0');
  return plainForm(`fe80::${universal}${b}:${c}ff:fe${d}:${e}${f}/64`);
}

/**
 * Returns mode, settings and link-local addresses for IPv6. Below the minimum MTU the kernel removes IPv6 from the
 * link, so nothing can be set.
 */
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

/** Returns the kernel state for a correctly configured NIC. */
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

/**
 * Returns a route per subnet. IPv6 routes have no source: the kernel rejects an address still being probed, and selects
 * by prefix (RFC 6724).
 */
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

/** Metric the kernel gives an IPv6 route without a metric (IP6_RT_PRIO_USER). */
const usualMetric6 = 1024;

function route(
  to: string,
  table: number,
  metric: number,
  more: Partial<Pick<NicRoute, 'via' | 'src'>>,
): NicRoute {
  const shared = { to, table, protocol: rt.protocolStatic, ...more };
  // IPv6 routes have no scope.
  if (familyOf(to) === 6)
    return { ...shared, metric: metric || usualMetric6, scope: rt.scopeGlobal };
  return { ...shared, metric, scope: more.via ? rt.scopeGlobal : rt.scopeLink };
}

/**
 * Returns wanted addresses in requested order, but within a subnet present IPv4 addresses come first, in kernel order.
 * The first address per subnet is primary and cannot change places. IPv6 has no primary address, and its kernel order
 * changes with each boot.
 */
function inKernelOrder(wanted: readonly string[], present: readonly string[]): string[] {
  const ranked = present.filter((cidr) => familyOf(cidr) === 4);
  const rank = (cidr: string) => (ranked.includes(cidr) ? ranked.indexOf(cidr) : ranked.length);
  const bySubnet = new Map<string, string[]>();
  for (const cidr of wanted.toSorted((a, b) => rank(a) - rank(b))) {
    bySubnet.set(networkOf(cidr), [...(bySubnet.get(networkOf(cidr)) ?? []), cidr]);
  }
  return wanted.map((cidr) => bySubnet.get(networkOf(cidr))?.shift() ?? cidr);
}

/**
 * Removes duplicates: an entry may repeat the default route or a subnet, and the kernel has a single route for both.
 */
function distinct(routes: readonly NicRoute[]): NicRoute[] {
  const keys = new Set<string>();
  return routes.filter((item) => {
    const key = routeText({ ...item, src: '' });
    return !keys.has(key) && keys.add(key);
  });
}
