import {
  broadcastOf,
  contains,
  familyOf,
  hostPrefix,
  ipOf,
  networkOf,
  overlaps,
  prefixOf,
} from '../../api/address.ts';
import type { RequestInterface } from '../../api/job.ts';

/** Shortest prefix length allowed for a subnet: a wider connected route would take the node's own traffic. */
const widestPrefix = { 4: 8, 6: 32 } as const;

/** Metadata address for cloud-init and Nova; the node must reach the address by the primary NIC. */
const metadataIp = '169.254.169.254';

function widestOf(cidr: string): number {
  return widestPrefix[familyOf(cidr)];
}

/** Returns why a request entry is invalid, naming the field; undefined if valid. */
export function entryProblem(
  entry: RequestInterface,
  all: readonly RequestInterface[],
): string | undefined {
  return (
    duplicateProblem(entry, all) ??
    macProblem(entry.mac) ??
    first(entry.addresses, addressProblem) ??
    gatewayProblem(entry) ??
    routesProblem(entry)
  );
}

function duplicateProblem(entry: RequestInterface, all: readonly RequestInterface[]) {
  const others = all.filter((other) => other !== entry);
  const ips = new Set(others.flatMap((other) => other.addresses.map(ipOf)));
  const taken = entry.addresses.find((cidr) => ips.has(ipOf(cidr)));
  if (others.some(({ mac }) => mac === entry.mac)) return `mac ${entry.mac} is in two entries`;
  if (others.some(({ index }) => index === entry.index))
    return `index ${entry.index} is in two entries`;
  if (taken) return `address ${taken} is in two entries`;
  const shared = new Set(others.flatMap(mainRoutes));
  const twice = mainRoutes(entry).find((key) => shared.has(key));
  if (twice) return `route to ${twice} is in two entries`;
  const own = entry.addresses.map(ipOf);
  const again = own.find((ip, at) => own.indexOf(ip) < at);
  return again && `address ${again} is listed twice`;
}

/**
 * Returns keys for routes in main. Routes without a metric are left out: each NIC gives them a metric unique on the
 * host.
 */
function mainRoutes({ routing, routes }: RequestInterface): string[] {
  if (routing !== 'main') return [];
  return routes
    .filter(({ metric }) => metric !== undefined)
    .map(({ to, metric }) => `${networkOf(to)} metric ${metric}`);
}

function macProblem(mac: string): string | undefined {
  const group = (Number.parseInt(mac.slice(0, 2), 16) & 1) === 1;
  return group || mac === '00:00:00:00:00:00'
    ? `mac ${mac} is a multicast or zero address`
    : undefined;
}

function addressProblem(cidr: string): string | undefined {
  const [ip, prefix] = [ipOf(cidr), prefixOf(cidr)];
  const widest = widestOf(cidr);
  if (prefix < widest) return `address ${cidr}: the prefix must be at least /${widest}`;
  if (familyOf(cidr) === 6) {
    return /^(::1?$|::ffff:|f[ef])/.test(ip) ? `address ${cidr} is not a host address` : undefined;
  }
  if (/^(0|127|22[4-9]|2[3-5]\d)\./.test(ip)) return `address ${cidr} is not a host address`;
  if (isEdge(ip, cidr)) return `address ${cidr} is not a host address`;
  return contains(cidr, metadataIp)
    ? `address ${cidr}: the subnet contains the metadata address ${metadataIp}`
    : undefined;
}

function gatewayProblem({ gateway, gateway6, addresses }: RequestInterface): string | undefined {
  const gateways = [gateway, gateway6].filter((ip) => ip !== undefined);
  return first(gateways, (ip) => {
    if (addresses.some((cidr) => ipOf(cidr) === ip))
      return `gateway ${ip} is an address of the NIC itself`;
    if (!onLink(ip, addresses)) return `gateway ${ip} is in no subnet of the NIC`;
    const edge = edgeOf(ip, addresses);
    return edge && `gateway ${ip} ${edge}`;
  });
}

/** Returns a problem if the address is the first or last in a subnet: no host can have such an address. */
function edgeOf(ip: string, addresses: readonly string[]): string | undefined {
  const subnet = addresses.find((cidr) => isEdge(ip, cidr));
  return subnet && `is the network or broadcast address of ${networkOf(subnet)}`;
}

/** IPv6 has no broadcast, and routers answer to a subnet's first address (RFC 4291, 2.6.1). */
function isEdge(ip: string, cidr: string): boolean {
  const broadcast = broadcastOf(cidr);
  return broadcast !== undefined && [ipOf(networkOf(cidr)), broadcast].includes(ip);
}

/** Networks without remote hosts: this network, loopback, IPv6 link-local, multicast, broadcast. */
const noHosts = [
  '0.0.0.0/8',
  '127.0.0.0/8',
  '224.0.0.0/4',
  '255.255.255.255/32',
  '::/127',
  'fe80::/10',
  'ff00::/8',
];

function destinationProblem(to: string, routing: RequestInterface['routing']): string | undefined {
  if (noHosts.some((each) => prefixOf(to) >= prefixOf(each) && overlaps(each, to))) {
    return `route to ${to}: the destination is loopback, link-local, multicast or otherwise reserved`;
  }
  if (routing !== 'main') return undefined;
  if (prefixOf(to) < widestOf(to)) {
    return `route to ${to}: the prefix must be at least /${widestOf(to)} in table main`;
  }
  if (!contains(to, metadataIp)) return undefined;
  return `route to ${to}: the node must reach the metadata address ${metadataIp} by its primary NIC`;
}

function routesProblem(entry: RequestInterface): string | undefined {
  const { routes, addresses, routing } = entry;
  return (
    first(routes, ({ to }) => destinationProblem(to, routing)) ??
    first(routes, (route) => nextHopProblem(route, addresses)) ??
    twoWaysProblem(entry)
  );
}

function nextHopProblem(
  { to, via }: RequestInterface['routes'][number],
  addresses: readonly string[],
): string | undefined {
  if (!addresses.some((cidr) => familyOf(cidr) === familyOf(to))) {
    return `route to ${to}: the NIC has no IPv${familyOf(to)} address`;
  }
  if (via === undefined) return undefined;
  if (familyOf(via) !== familyOf(to))
    return `route to ${to}: via ${via} is not an IPv${familyOf(to)} address`;
  if (!onLink(via, addresses)) return `route to ${to}: via ${via} is in no subnet of the NIC`;
  const edge = edgeOf(via, addresses);
  return edge && `route to ${to}: via ${via} ${edge}`;
}

function twoWaysProblem({ routes, gateway, gateway6, addresses }: RequestInterface) {
  const hops = new Map<string, string>(addresses.map((cidr) => [networkOf(cidr), '']));
  if (gateway) hops.set('0.0.0.0/0', gateway);
  if (gateway6) hops.set('::/0', gateway6);
  return first(routes, ({ to, via = '', metric }) => {
    const key = metric === undefined ? networkOf(to) : `${networkOf(to)} metric ${metric}`;
    const known = hops.get(key);
    hops.set(key, via);
    return known === undefined || known === via
      ? undefined
      : `route to ${to} repeats a subnet, gateway or route of the NIC`;
  });
}

/** A NIC with an IPv6 address reaches the link-local addresses of neighbours. */
function onLink(ip: string, addresses: readonly string[]): boolean {
  if (ip.startsWith('fe80:')) return addresses.some((cidr) => familyOf(cidr) === 6);
  return addresses.some(
    (cidr) => prefixOf(cidr) < hostPrefix(familyOf(cidr)) && contains(cidr, ip),
  );
}

function first<T>(items: readonly T[], problem: (item: T) => string | undefined) {
  for (const item of items) {
    const found = problem(item);
    if (found) return found;
  }
  return undefined;
}
