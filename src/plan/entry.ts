import { isIPv4 } from '../api/address.ts';
import type { InterfaceSpec } from '../api/multinicnodeconfig.ts';
import { interfaceName } from '../api/names.ts';
import type { AddressFamily } from '../api/openstackconfig.ts';
import type { FixedIp, Port } from './observation.ts';
import type { Selection } from './plan.ts';
import { compareText, type SubnetFacts, type View } from './view.ts';

/** Entry for a port, or the missing data. */
export type Entry =
  | { readonly kind: 'entry'; readonly entry: InterfaceSpec }
  | { readonly kind: 'missing'; readonly what: string };

/**
 * Builds a port's entry in the form that all deployed readers understand. cidr has network form; mtu and name are
 * always set. IPv4 is in `address`, IPv6 only in `addresses`.
 */
export function entryOf(port: Port, match: Match, index: number, view: View): Entry {
  const network = view.networks.get(port.networkId);
  if (network === undefined) return missing(`network ${port.networkId} could not be read`);
  if (network.mtu === undefined) return missing(`network ${port.networkId} has no MTU`);
  const { subnet, fixedIp } = match;
  const { addressFamilies, routing } = view.input.selection;
  const others: Located[] = [];
  for (const ip of port.fixedIps) {
    if (isSameIp(ip, fixedIp) || !addressFamilies.includes(familyOf(ip))) continue;
    const found = view.subnets.get(ip.subnetId);
    if (found === undefined) return missing(`subnet ${ip.subnetId} could not be read`);
    others.push({ ipAddress: ip.ipAddress, subnet: found });
  }
  const subnets = furtherSubnets(others, subnet);
  const entry: InterfaceSpec = {
    id: index,
    name: interfaceName(index),
    portId: port.id,
    macAddress: port.macAddress.toLowerCase(),
    ...(isIPv4(fixedIp.ipAddress) ? { address: fixedIp.ipAddress } : {}),
    cidr: subnet.cidr,
    mtu: network.mtu,
    addresses: [
      `${fixedIp.ipAddress}/${subnet.prefix}`,
      ...others.map((ip) => `${ip.ipAddress}/${ip.subnet.prefix}`).toSorted(compareText),
    ],
    ...subnet.shared,
    ...(subnets.length > 0 ? { subnets } : {}),
    networkId: port.networkId,
    subnetId: subnet.id,
    // The default is omitted, as in objects written before the setting existed.
    ...(routing === 'pbr' ? {} : { routing }),
  };
  return { kind: 'entry', entry };
}

function missing(what: string): Entry {
  return { kind: 'missing', what };
}

function familyOf({ ipAddress }: FixedIp): AddressFamily {
  return isIPv4(ipAddress) ? 'IPv4' : 'IPv6';
}

/** Compares addresses by value: a port may return new objects at each read. */
function isSameIp(a: FixedIp, b: FixedIp): boolean {
  return a.ipAddress === b.ipAddress && a.subnetId === b.subnetId;
}

/** Address with its subnet. */
interface Located {
  readonly ipAddress: string;
  readonly subnet: SubnetFacts;
}

/** Returns the further subnets that have a gateway or routes; a prefix alone is already in `addresses`. */
function furtherSubnets(others: readonly Located[], main: SubnetFacts) {
  const further = new Map(others.map(({ subnet }) => [subnet.id, subnet]));
  return [...further.values()]
    .filter(({ id, shared }) => id !== main.id && Object.keys(shared).length > 0)
    .map(({ cidr, shared }) => ({ cidr, routes: [], ...shared }))
    .toSorted((a, b) => compareText(a.cidr, b.cidr));
}

/** Address that selects a port. */
export interface Match {
  readonly kind: 'match';
  /** Position in the subnet selector. */
  readonly rank: number;
  readonly subnet: SubnetFacts;
  readonly fixedIp: FixedIp;
}

/** Match between a port and the selected subnets. */
type SubnetMatch =
  | Match
  /** The port has an address in a selected but unreadable subnet. */
  | { readonly kind: 'unknown' }
  | { readonly kind: 'none' };

/**
 * Returns the address that selects the port: IPv4 before IPv6, then selector order. Among equals the delivered
 * address wins, else Neutron's first.
 */
export function matchSubnet(port: Port, view: View, delivered?: string): SubnetMatch {
  let best: Match | undefined;
  for (const fixedIp of port.fixedIps) {
    const rank = view.rank.get(fixedIp.subnetId);
    if (rank === undefined) continue;
    const subnet = view.subnets.get(fixedIp.subnetId);
    if (subnet === undefined) return { kind: 'unknown' };
    const { addressFamilies } = view.input.selection;
    const isWanted = addressFamilies.includes(`IPv${subnet.ipVersion}`);
    if (subnet.networkId !== port.networkId || !isWanted) continue;
    const match = { kind: 'match', rank, subnet, fixedIp } as const;
    if (best === undefined || isBetter(match, best, delivered)) best = match;
  }
  return best ?? { kind: 'none' };
}

function isBetter(match: Match, best: Match, delivered: string | undefined): boolean {
  if (best.fixedIp.ipAddress === delivered) return false;
  if (match.fixedIp.ipAddress === delivered) return true;
  // Deployed readers support only an IPv4 address.
  const family = best.subnet.ipVersion - match.subnet.ipVersion;
  return family > 0 || (family === 0 && match.rank < best.rank);
}

/** True if ports with this status are delivered; ports without status always are. */
export function isAllowedStatus({ status }: Port, { statuses }: Selection): boolean {
  return statuses === 'any' || status === '' || statuses.includes(status.toUpperCase());
}

const pattern = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(?:\.\d+)?(Z|[+-]\d{2}:\d{2})?$/;

/**
 * Parses a Neutron time into milliseconds since 1970: RFC 3339 with `Z` or offset, or without zone (UTC). Returns
 * undefined for missing seconds, a blank instead of T, lower case, or an offset without colon.
 */
export function parseTime(text: string): number | undefined {
  const match = pattern.exec(text.trim());
  if (!match) return undefined;
  const ms = Date.parse(match[1] === undefined ? `${match[0]}Z` : match[0]);
  return Number.isNaN(ms) ? undefined : ms;
}

/** True if the port is new enough; false for an unknown creation time. */
export function isAfterBaseline(createdAt: string | undefined, baseline: string | undefined) {
  if (baseline === undefined) return true;
  const created = createdAt === undefined ? undefined : parseTime(createdAt);
  const limit = parseTime(baseline);
  return created !== undefined && limit !== undefined && created >= limit;
}
