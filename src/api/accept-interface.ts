import {
  contains,
  familyOf,
  ipOf,
  isIPv4,
  isIPv6,
  networkOf,
  plainForm,
  prefixOf,
} from './address.ts';
import { maxRoutes, type RequestInterface } from './job.ts';
import type { InterfaceSpec } from './multinicnodeconfig.ts';
import { indexOfName, maxIndex } from './names.ts';

/** Reason for refusing an entry: field, value and remedy. */
export interface Rejection {
  /** Position in `spec.interfaces`. */
  readonly position: number;
  readonly field: string;
  readonly message: string;
}

export interface Acceptance {
  /** Configurable entries in the agent request's form, with their positions. */
  readonly accepted: readonly { readonly position: number; readonly nic: RequestInterface }[];
  readonly rejected: readonly Rejection[];
}

/** Unusable field; caught only by `acceptInterfaces`. */
class UnusableField extends Error {
  readonly field: string;
  constructor(field: string, message: string) {
    super(message);
    this.field = field;
  }
}

/**
 * Decides per entry whether the NIC can be configured. Two entries with the same index, MAC, port or address are both
 * refused, because the intended entry is unknown. A refused entry never counts as removed.
 */
export function acceptInterfaces(entries: readonly InterfaceSpec[]): Acceptance {
  const accepted: { position: number; nic: RequestInterface }[] = [];
  const rejected: Rejection[] = [];
  for (const [position, entry] of entries.entries()) {
    try {
      accepted.push({ position, nic: acceptInterface(entry) });
    } catch (error) {
      if (!(error instanceof UnusableField)) throw error;
      rejected.push({ position, field: error.field, message: error.message });
    }
  }
  const twice = duplicates(accepted);
  return {
    accepted: accepted.filter(({ position }) => !twice.has(position)),
    rejected: [...rejected, ...twice.values()].toSorted((a, b) => a.position - b.position),
  };
}

function acceptInterface(entry: InterfaceSpec): RequestInterface {
  const { macAddress, portId, mtu, routing = 'pbr' } = entry;
  const addresses = addressesOf(entry);
  const ways = waysOut(entry, addresses);
  const gateway = gatewayOf(ways, 4);
  const gateway6 = gatewayOf(ways, 6);
  return {
    index: indexOf(entry),
    mac: macAddress.toLowerCase(),
    addresses,
    routes: routesOf(ways, addresses),
    routing,
    ...(portId ? { portId } : {}),
    ...(mtu === undefined ? {} : { mtu }),
    ...(gateway ? { gateway } : {}),
    ...(gateway6 ? { gateway6 } : {}),
  };
}

/** Returns the entry's index; the number in the name wins over the id, as in the legacy system. */
function indexOf({ id = 0, name }: InterfaceSpec): number {
  const index = name === undefined ? id : indexOfName(name);
  if (index === undefined || index > maxIndex) {
    if (name === undefined) {
      throw new UnusableField('id', `${id} is not an index from 0 to ${maxIndex}`);
    }
    throw new UnusableField(
      'name',
      `"${name}" is not a name from multinic0 to multinic${maxIndex}`,
    );
  }
  return index;
}

/** Returns `address` with the prefix from `cidr` first, then the remaining `addresses`. */
function addressesOf({ address, cidr, addresses = [] }: InterfaceSpec): string[] {
  const list = addresses.map((text) => plainForm(network('addresses', text)));
  if (address === undefined) {
    if (list.length === 0)
      throw new UnusableField('address', 'is missing; set the fixed IP of the port');
    return unique(list);
  }
  if (!isIPv4(address)) {
    throw new UnusableField('address', `"${address}" is not an IPv4 address`);
  }
  if (!cidr) throw new UnusableField('cidr', 'is missing; set the subnet of the address');
  const prefix = prefixOf(network('cidr', cidr));
  if (!contains(cidr, address)) {
    throw new UnusableField('address', `${address} is not in cidr ${cidr}`);
  }
  return unique([`${address}/${prefix}`, ...list]);
}

/** Routes out from one subnet that the NIC has an address in. */
interface WayOut {
  /** In network form. */
  readonly cidr: string;
  readonly gateway: string | undefined;
  readonly routes: RequestInterface['routes'];
}

/** Returns the routes out from each subnet, main subnet first. */
function waysOut(entry: InterfaceSpec, addresses: readonly string[]): WayOut[] {
  const { gateway, routes, subnets = [] } = entry;
  const main = {
    cidr: networkOf(addresses[0] ?? ''),
    gateway: gateway ? ip('gateway', gateway) : undefined,
    routes: readRoutes('routes', routes),
  };
  return [main, ...subnets.map((subnet, at) => furtherWay(`subnets[${at}]`, subnet, addresses))];
}

function furtherWay(
  field: string,
  { cidr, gateway, routes }: NonNullable<InterfaceSpec['subnets']>[number],
  addresses: readonly string[],
): WayOut {
  const subnet = networkOf(network(`${field}.cidr`, cidr));
  if (!addresses.some((address) => contains(subnet, ipOf(address)))) {
    throw new UnusableField(`${field}.cidr`, `${cidr} contains no address of the NIC`);
  }
  const way = gateway ? ip(`${field}.gateway`, gateway) : undefined;
  if (way !== undefined && familyOf(way) !== familyOf(subnet)) {
    throw new UnusableField(`${field}.gateway`, `${way} is not in the address family of ${cidr}`);
  }
  return { cidr: subnet, gateway: way, routes: readRoutes(`${field}.routes`, routes) };
}

/** Returns the default gateway for a family: the gateway from the first subnet with one. */
function gatewayOf(ways: readonly WayOut[], family: 4 | 6): string | undefined {
  return ways.flatMap(({ gateway }) => gateway ?? []).find((way) => familyOf(way) === family);
}

/**
 * Returns all subnets' routes. Subnets in one Neutron network often have host routes to each other and to the same
 * destinations. Directly connected networks need no route, and among routes to one destination the first wins.
 */
function routesOf(ways: readonly WayOut[], addresses: readonly string[]) {
  // Nearly always.
  if (ways.every(({ routes }) => routes.length === 0)) return [];
  const connected = new Set(addresses.map(networkOf));
  const [main = [], ...further] = ways.map(({ cidr, routes }) =>
    routes.filter(({ to }) => to === cidr || !connected.has(to)),
  );
  const places = new Set(main.map(placeOf));
  const added = further
    .flat()
    .filter((route) => !places.has(placeOf(route)) && places.add(placeOf(route)));
  const all = [...main, ...added];
  if (all.length > maxRoutes) {
    throw new UnusableField(
      'subnets',
      `${all.length} routes with those of the main subnet; a NIC may have at most ${maxRoutes}, remove some`,
    );
  }
  return all;
}

function placeOf({ to, metric }: RequestInterface['routes'][number]): string {
  return `${to} ${metric ?? ''}`;
}

function readRoutes(
  field: string,
  routes: InterfaceSpec['routes'] = [],
): RequestInterface['routes'] {
  return routes.map(({ to, via, metric }, at) => ({
    to: networkOf(network(`${field}[${at}].to`, to)),
    ...(via === undefined ? {} : { via: ip(`${field}[${at}].via`, via) }),
    ...(metric === undefined ? {} : { metric }),
  }));
}

/** Returns an IPv4 or IPv6 address in plain form. */
function ip(field: string, text: string): string {
  if (isIPv4(text)) return text;
  if (isIPv6(text)) return plainForm(text);
  throw new UnusableField(field, `"${text}" is not an IPv4 or IPv6 address`);
}

/** Returns a valid `ip/prefix` text in either family; refuses leading zeros in the length, and 0.0.0.0/0 and ::/0. */
function network(field: string, text: string): string {
  const [address = '', prefix = '', ...rest] = text.split('/');
  const length = /^[1-9]\d{0,2}$/.test(prefix) && rest.length === 0 ? Number(prefix) : 0;
  const most = isIPv4(address) ? 32 : isIPv6(address) ? 128 : 0;
  if (length >= 1 && length <= most) return text;
  throw new UnusableField(field, `"${text}" is not a network such as 10.0.0.0/24 or fd00::/64`);
}

function unique(list: readonly string[]): string[] {
  return [...new Set(list)];
}

const uniqueFields = Object.entries({
  name: ({ index }: RequestInterface) => [`multinic${index}`],
  macAddress: ({ mac }: RequestInterface) => [mac],
  portId: ({ portId }: RequestInterface) => (portId ? [portId] : []),
  address: ({ addresses }: RequestInterface) => addresses.map(ipOf),
});

function duplicates(accepted: Acceptance['accepted']): Map<number, Rejection> {
  const found = new Map<number, Rejection>();
  for (const [field, keysOf] of uniqueFields) {
    const all = accepted.flatMap(({ nic }) => keysOf(nic));
    // Nearly always: no two NICs have the same key.
    if (new Set(all).size === all.length) continue;
    const holders = accepted.flatMap(({ position, nic }) =>
      keysOf(nic).map((key) => ({ key, position })),
    );
    for (const [key, entries] of Map.groupBy(holders, (holder) => holder.key)) {
      if (entries.length < 2) continue;
      const where = entries.map(({ position }) => `interfaces[${position}]`).join(' and ');
      for (const { position } of entries) {
        found.set(position, { position, field, message: `${key} is used by ${where}` });
      }
    }
  }
  return found;
}
