import { networkOf, overlaps } from '../../api/address.ts';
import type { NicReason } from '../../api/job.ts';
import { routingTable, rulePriority } from '../../api/names.ts';
import { type Address, type Host, type Link, type Route, rt } from '../host.ts';
import type { NicRecord } from '../state.ts';
import { contains, ipOf } from './ipv4.ts';
import { linkNamed, upperLinks } from './links.ts';
import { type Belongings, isInheritedRule, isOwnRule } from './ownership.ts';
import { isLinkLocal } from './present-state.ts';

export interface Refusal {
  readonly reason: NicReason;
  readonly message: string;
}

const refusal = (reason: NicReason, message: string): Refusal => ({ reason, message });

/** Why this link must never be touched, whatever is asked for: it carries the node itself. The carrier does not count. */
export function refuseLink(
  host: Host,
  link: Link,
  record: NicRecord | undefined,
  protectedAddresses: readonly string[],
): Refusal | undefined {
  return strangeName(link) ?? refusePrimary(host, link, record, protectedAddresses);
}

/** `ip -batch` splits lines at spaces and quotes, and a setting's path at slashes. */
function strangeName({ name }: Link): Refusal | undefined {
  if (/^[\w.@+-]+$/.test(name)) return undefined;
  return refusal('NICInUse', `the link's name ${JSON.stringify(name)} has unusual characters`);
}

function refusePrimary(
  host: Host,
  link: Link,
  record: NicRecord | undefined,
  protectedAddresses: readonly string[],
): Refusal | undefined {
  const route = host.routes.find((item) => isDefault(item, link) && item.table !== record?.table);
  if (route) {
    return refusal('PrimaryNIC', `${link.name} has a default route in table ${route.table}`);
  }
  const nodes = new Set(protectedAddresses.map(canonical));
  const address = host.addresses.find((item) => item.link === link.name && nodes.has(plain(item)));
  return address && refusal('PrimaryNIC', `${link.name} has the node's address ${plain(address)}`);
}

function isDefault({ to, type, links }: Route, link: Link): boolean {
  return to.endsWith('/0') && type === rt.unicast && links.includes(link.name);
}

/**
 * Why this link must not be changed: something on it is not ours and would suffer. What the kernel makes by itself from
 * addresses does not count.
 */
export function refuseInUse(
  host: Host,
  link: Link,
  record: NicRecord | undefined,
): Refusal | undefined {
  const upper = upperLinks(host, link.name)[0];
  if (link.master) return refusal('NICInUse', `${link.name} is a member of ${link.master}`);
  if (upper) return refusal('NICInUse', `${upper.name} sits on ${link.name}`);
  const ours = new Set((record?.addresses ?? []).map(ipOf));
  const address = host.addresses.find((item) => item.link === link.name && !isOurs(item, ours));
  if (address) return refusal('NICInUse', `${link.name} has the address ${address.cidr}`);
  const route = host.routes.find((item) => isForeignRoute(item, link, record));
  return (
    route && refusal('NICInUse', `${link.name} has a route to ${route.to}, table ${route.table}`)
  );
}

function isOurs(address: Address, ours: ReadonlySet<string>): boolean {
  return isLinkLocal(address) || (!address.opaque && ours.has(ipOf(address.cidr)));
}

function isForeignRoute(route: Route, link: Link, record: NicRecord | undefined): boolean {
  if (!route.links.includes(link.name) || route.protocol === rt.protocolKernel) return false;
  const ours = route.table === record?.table && route.family === 4 && route.type === rt.unicast;
  return !ours || route.opaque;
}

/** Why the name, table or priority of this index cannot be used for the NIC on this link. */
export function refuseIndex(
  host: Host,
  link: Link,
  index: number,
  belongings: Belongings,
): Refusal | undefined {
  const table = routingTable(index);
  const route = host.routes.find(
    (item) => item.table === table && !(item.links.includes(link.name) && !item.opaque),
  );
  if (route) return refusal('TableInUse', `table ${table} has a route to ${route.to}`);
  const priority = rulePriority(index);
  const rule = host.rules.find(
    (item) =>
      !isOwnRule(item, belongings) &&
      (item.priority === priority || (item.table === table && !isInheritedRule(item, table))),
  );
  return (
    rule && refusal('TableInUse', `rule ${rule.priority} from ${rule.from} is not of this NIC`)
  );
}

/** Why a link cannot get this name: another one has it and will not give it up. */
export function refuseName(
  host: Host,
  link: Link,
  name: string,
  leaving: ReadonlySet<string>,
): Refusal | undefined {
  const holder = linkNamed(host, name);
  if (!holder || holder.index === link.index || leaving.has(holder.name)) return undefined;
  return refusal('NICInUse', `the name ${name} belongs to another NIC, ${holder.mac}`);
}

/**
 * Why these addresses cannot be on a NIC of this host: somebody else has one of them, or traffic of the node's own subnet
 * could leave by this NIC. `managed` are the links of the request, whose addresses may be on the move.
 */
export function refuseAddresses(
  host: Host,
  wanted: readonly string[],
  managed: ReadonlySet<string>,
  protectedAddresses: readonly string[],
): Refusal | undefined {
  const nodes = new Set(protectedAddresses.map(canonical));
  const others = host.addresses.filter(({ family, link }) => family === 4 && !managed.has(link));
  const isNodes = (item: Address) =>
    nodes.has(plain(item)) || host.routes.some((route) => isMainDefault(route, item.link));
  return (
    firstRefusal(others, (item) => refuseTaken(item, wanted)) ??
    firstRefusal(others.filter(isNodes), (item) => refuseOverlap(item, wanted)) ??
    firstRefusal(protectedAddresses, (ip) => refuseCovered(ip, wanted))
  );
}

function refuseTaken({ cidr, link }: Address, wanted: readonly string[]): Refusal | undefined {
  const clash = wanted.find((item) => ipOf(item) === ipOf(cidr));
  return clash ? refusal('InvalidEntry', `address ${clash} is on ${link}`) : undefined;
}

function refuseOverlap({ cidr, link }: Address, wanted: readonly string[]): Refusal | undefined {
  const overlap = wanted.find((item) => overlaps(item, cidr));
  if (overlap === undefined) return undefined;
  const [ours, theirs] = [networkOf(overlap), networkOf(cidr)];
  return refusal('SubnetOverlapsPrimary', `${ours} overlaps ${theirs} of ${link}`);
}

/** The node's address may be on no link at all for a moment, and in an external subnet for good. */
function refuseCovered(ip: string, wanted: readonly string[]): Refusal | undefined {
  if (ip.includes(':') || !wanted.some((cidr) => contains(cidr, ip))) return undefined;
  return refusal('SubnetOverlapsPrimary', `the node's address ${ip} is in the subnet of the NIC`);
}

function isMainDefault({ to, table, links, type }: Route, link: string): boolean {
  return to.endsWith('/0') && table === rt.mainTable && type === rt.unicast && links.includes(link);
}

function firstRefusal<T>(items: readonly T[], refuse: (item: T) => Refusal | undefined) {
  for (const item of items) {
    const found = refuse(item);
    if (found) return found;
  }
  return undefined;
}

function plain({ cidr }: Address): string {
  return canonical(ipOf(cidr));
}

/** One form of an IP address; the kernel and Kubernetes shorten IPv6 in their own ways. */
function canonical(ip: string): string {
  return ip.includes(':') ? new URL(`http://[${ip}]`).hostname.slice(1, -1) : ip;
}
