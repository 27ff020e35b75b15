import { Address4, Address6 } from 'ip-address';
import { contains, ipOf, isIPv4, isIPv6 } from './address.ts';
import type { RequestInterface } from './job.ts';
import type { InterfaceSpec, Routing } from './multinicnodeconfig.ts';
import { indexOfName, maxIndex } from './names.ts';

/** Why an entry cannot be used: the field, what it holds, and what to do. */
export interface Rejection {
  /** Position in `spec.interfaces`. */
  readonly position: number;
  readonly field: string;
  readonly message: string;
}

export interface Acceptance {
  /** Entries that can be configured, in the form the agent is sent, with their position. */
  readonly accepted: readonly { readonly position: number; readonly nic: RequestInterface }[];
  readonly rejected: readonly Rejection[];
}

/** A field that cannot be used; caught by `acceptInterfaces` only. */
class UnusableField extends Error {
  readonly field: string;
  constructor(field: string, message: string) {
    super(message);
    this.field = field;
  }
}

/** What an entry may ask for. */
export interface Abilities {
  readonly ipv6: boolean;
  readonly routings: readonly Routing[];
}

/** What agents can do; an entry that asks for more is refused by name. */
const ofAgents: Abilities = { ipv6: false, routings: ['pbr'] };

/** What entries have a form for. Agents learn it later than plans do. */
export const ofPlans: Abilities = { ipv6: true, routings: ['isolated', 'pbr', 'main'] };

/**
 * Decides entry by entry what can be configured. Of two entries that claim the same index, MAC, port or address both are
 * refused: nobody can tell which one is meant, and a refused entry is never treated as removed.
 */
export function acceptInterfaces(
  entries: readonly InterfaceSpec[],
  abilities: Abilities = ofAgents,
): Acceptance {
  const accepted: { position: number; nic: RequestInterface }[] = [];
  const rejected: Rejection[] = [];
  for (const [position, entry] of entries.entries()) {
    try {
      accepted.push({ position, nic: acceptInterface(entry, abilities) });
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

function acceptInterface(entry: InterfaceSpec, abilities: Abilities): RequestInterface {
  const { routing = 'pbr' } = entry;
  if (!abilities.routings.includes(routing)) {
    throw new UnusableField('routing', `${routing} is not supported yet; use pbr`);
  }
  const read = readerOf(abilities);
  const addresses = addressesOf(entry, read);
  checkSubnets(entry, addresses, read);
  return {
    index: indexOf(entry),
    mac: entry.macAddress.toLowerCase(),
    addresses,
    routes: routesOf('routes', entry.routes, read),
    routing: 'pbr',
    ...(entry.portId ? { portId: entry.portId } : {}),
    ...(entry.mtu === undefined ? {} : { mtu: entry.mtu }),
    ...(entry.gateway ? { gateway: read.ip('gateway', entry.gateway) } : {}),
  };
}

/** The number in the name wins over the id, as in the deployed system. */
function indexOf({ id = 0, name }: InterfaceSpec): number {
  const index = name === undefined ? id : indexOfName(name);
  if (index === undefined || index > maxIndex) {
    const field = name === undefined ? 'id' : 'name';
    throw new UnusableField(field, `${name ?? id} is not one of multinic0 to multinic${maxIndex}`);
  }
  return index;
}

/** `address` with the prefix of `cidr` first, then the others of `addresses`. */
function addressesOf({ address, cidr, addresses = [] }: InterfaceSpec, read: Reader): string[] {
  const list = addresses.map((text) => {
    const network = read.network('addresses', text);
    return `${network.correctForm()}/${network.subnetMask}`;
  });
  if (address === undefined) {
    if (list.length === 0) throw new UnusableField('address', 'is missing; give the fixed IP');
    return unique(list);
  }
  const ip = ipv4('address', address);
  if (!cidr) throw new UnusableField('cidr', 'is missing; give the subnet of address');
  const network = ipv4Network('cidr', cidr);
  const first = `${ip}/${network.subnetMask}`;
  if (!new Address4(first).isInSubnet(network)) {
    throw new UnusableField('address', `${ip} is not in cidr ${cidr}`);
  }
  return unique([first, ...list]);
}

/** Agents are not sent the further subnets yet, but what cannot be used is said to whoever writes it. */
function checkSubnets(
  { subnets = [] }: InterfaceSpec,
  addresses: readonly string[],
  read: Reader,
): void {
  for (const [at, { cidr, gateway, routes }] of subnets.entries()) {
    const field = `subnets[${at}]`;
    read.network(`${field}.cidr`, cidr);
    if (gateway) read.ip(`${field}.gateway`, gateway);
    routesOf(`${field}.routes`, routes, read);
    if (!addresses.some((address) => contains(cidr, ipOf(address)))) {
      throw new UnusableField(`${field}.cidr`, `${cidr} holds none of the addresses of the NIC`);
    }
  }
}

function routesOf(
  field: string,
  routes: InterfaceSpec['routes'] = [],
  read: Reader,
): RequestInterface['routes'] {
  return routes.map(({ to, via, metric }, at) => {
    const network = read.network(`${field}[${at}].to`, to);
    return {
      to: `${network.startAddress().correctForm()}/${network.subnetMask}`,
      ...(via === undefined ? {} : { via: read.ip(`${field}[${at}].via`, via) }),
      ...(metric === undefined ? {} : { metric }),
    };
  });
}

/** Reads addresses and networks of the families that an entry may have. */
interface Reader {
  ip(field: string, text: string): string;
  network(field: string, text: string): Address4 | Address6;
}

function readerOf({ ipv6 }: Abilities): Reader {
  if (!ipv6) return { ip: ipv4, network: ipv4Network };
  return {
    ip: (field, text) => (isIPv6(text) ? text : ipv4(field, text)),
    network: (field, text) => ipv6Network(text) ?? ipv4Network(field, text),
  };
}

function ipv6Network(text: string): Address6 | undefined {
  const [ip = '', prefix = ''] = text.split('/');
  const length = Number(prefix);
  const isNetwork = isIPv6(ip) && /^\d{1,3}$/.test(prefix) && length >= 1 && length <= 128;
  return isNetwork ? new Address6(text) : undefined;
}

function ipv4(field: string, text: string): string {
  if (!isIPv4(text)) throw new UnusableField(field, `"${text}" is not an IPv4 address`);
  return text;
}

function ipv4Network(field: string, text: string): Address4 {
  const [ip = '', prefix = ''] = text.split('/');
  const length = Number(prefix);
  if (!isIPv4(ip) || !/^\d{1,2}$/.test(prefix) || length < 1 || length > 32) {
    throw new UnusableField(field, `"${text}" is not an IPv4 network such as 10.0.0.0/24`);
  }
  return new Address4(text);
}

function unique(list: readonly string[]): string[] {
  return [...new Set(list)];
}

function duplicates(accepted: Acceptance['accepted']): Map<number, Rejection> {
  const found = new Map<number, Rejection>();
  const keys = {
    name: (nic: RequestInterface) => [`multinic${nic.index}`],
    macAddress: (nic: RequestInterface) => [nic.mac],
    portId: (nic: RequestInterface) => (nic.portId ? [nic.portId] : []),
    address: (nic: RequestInterface) => nic.addresses.map((text) => text.split('/')[0] ?? text),
  };
  for (const [field, keysOf] of Object.entries(keys)) {
    const holders = Map.groupBy(
      accepted.flatMap(({ position, nic }) => keysOf(nic).map((key) => ({ key, position }))),
      ({ key }) => key,
    );
    for (const [key, entries] of holders) {
      if (entries.length < 2) continue;
      const where = entries.map(({ position }) => `interfaces[${position}]`).join(' and ');
      for (const { position } of entries) {
        found.set(position, { position, field, message: `${key} is claimed by ${where}` });
      }
    }
  }
  return found;
}
