import { dirname } from 'node:path';
import { ipOf, plainForm } from '../../api/address.ts';
import type { NicReason } from '../../api/job.ts';
import { isKernelMade, type Link, type Route, rt, type Snapshot, upperLinks } from '../snapshot.ts';
import type { NicRecord } from '../state.ts';
import type { DesiredNic } from './desired.ts';
import { isLinkLocal } from './nic-state.ts';
import { type Belongings, isOwnRoute } from './ownership.ts';

export interface Refusal {
  readonly reason: NicReason;
  readonly message: string;
}

export const refusal = (reason: NicReason, message: string): Refusal => ({ reason, message });

/** NIC subject to an operation. */
export interface TouchedNic {
  readonly link: Link;
  /** Ownership keys for the NIC's existing state. */
  readonly owned: Belongings;
}

/** NIC named in a request entry. */
export interface WantedNic extends TouchedNic {
  readonly record?: NicRecord;
  /** Ownership keys, existing and desired. */
  readonly belongings: Belongings;
  readonly desired: DesiredNic;
  /** Paths for permanent and interim files. */
  readonly paths: readonly string[];
}

/** Surroundings for checks on a NIC. */
export interface Site {
  readonly host: Snapshot;
  /** Node object addresses. */
  readonly protectedAddresses: readonly string[];
  /** All managed NICs, requested or not. */
  readonly records: readonly NicRecord[];
  /** Requested NICs without a refusal: their names and addresses may move. Refused entries do not count. */
  readonly accepted: readonly WantedNic[];
}

/** Returns why a NIC must not be changed; undefined: no objection. */
export type Check<N extends TouchedNic> = (nic: N, site: Site) => Refusal | undefined;

/** Returns the first refusal; undefined if no check objects. */
export function firstRefusal<N extends TouchedNic>(
  checks: readonly Check<N>[],
  nic: N,
  site: Site,
): Refusal | undefined {
  for (const check of checks) {
    const found = check(nic, site);
    if (found) return found;
  }
  return undefined;
}

/** Checks for links carrying the node itself: such a link is never touched. The carrier does not count. */
export const untouchable: readonly Check<TouchedNic>[] = [
  strangeName,
  leased,
  defaultRoute,
  nodeAddress,
];

/** Checks for foreign users on a link: a change would disrupt them. */
export const inUse: readonly Check<TouchedNic>[] = [member, lower, foreignAddress, foreignRoute];

/**
 * Checks for links unusable as a configured NIC even without differences: a bridge or bond port has no address itself.
 */
export const unusable: readonly Check<TouchedNic>[] = [...untouchable, member];

export function isDefault({ to, type }: Route): boolean {
  return to.endsWith('/0') && type === rt.unicast;
}

/** True if the route may leave by the link; a route with unknown links counts. */
function mayLeaveBy({ links, anyLink }: Route, { name }: Link): boolean {
  return anyLink === true || links.includes(name);
}

interface NodeAddresses extends Pick<Site, 'protectedAddresses'> {
  readonly host: Pick<Snapshot, 'addresses'>;
}

/** Returns the link's Node object address; undefined if none. */
export function nodeAddressOf(
  link: Link,
  { host, protectedAddresses }: NodeAddresses,
): string | undefined {
  // The kernel and Kubernetes shorten IPv6 addresses differently.
  const nodes = new Set(protectedAddresses.map(plainForm));
  const own = host.addresses.filter((item) => item.link === link.name);
  return own.map(({ cidr }) => plainForm(ipOf(cidr))).find((ip) => nodes.has(ip));
}

/** Refuses unusual names: `ip -batch` splits lines at spaces and quotes, and a sysctl path splits at slashes. */
function strangeName({ link: { name } }: TouchedNic): Refusal | undefined {
  if (/^[\w.@+-]+$/.test(name)) return undefined;
  return refusal('NICInUse', `link name ${JSON.stringify(name)} has unsupported characters`);
}

function nodeAddress({ link }: TouchedNic, site: Site): Refusal | undefined {
  const ip = nodeAddressOf(link, site);
  return ip === undefined
    ? undefined
    : refusal('PrimaryNIC', `${link.name} has the node's address ${ip}`);
}

/**
 * Refuses a link leased by the host's network manager: a file for every NIC gave a plugged NIC an address and a default
 * route. Such a link is not primary, as the node leaves by another link.
 */
function leased({ link, owned }: TouchedNic, site: Site): Refusal | undefined {
  const { host } = site;
  const address = host.addresses.find(
    ({ link: on, temporary, cidr }) =>
      on === link.name && temporary && !owned.ips.includes(ipOf(cidr)),
  );
  const route = host.routes.find(
    ({ links, protocol }) => leasing.has(protocol) && links.includes(link.name),
  );
  const what = address ? `the address ${address.cidr}` : route && `a route to ${route.to}`;
  if (!what || isPrimary(link, site)) return undefined;
  const giver = (address ?? route)?.family === 6 ? 'a router advertisement' : "the host's DHCP";
  return refusal('LeasedByHost', `${giver} gave ${link.name} ${what}`);
}

/** Protocols for routes learned from the network: DHCP and router advertisements. */
export const leasing: ReadonlySet<number> = new Set<number>([rt.protocolDhcp, rt.protocolRa]);

/** True if the link has the Node address, or the kernel's preferred default route in main. */
export function isPrimary(
  link: Link,
  site: Pick<Site, 'protectedAddresses'> & {
    readonly host: Pick<Snapshot, 'addresses' | 'routes'>;
  },
): boolean {
  const defaultRoutes = site.host.routes.filter(
    (item) => isDefault(item) && item.table === rt.mainTable,
  );
  const four = defaultRoutes.filter(({ family }) => family === 4);
  const defaults = four.length > 0 ? four : defaultRoutes;
  const metrics = defaults
    .filter(({ links }) => links.includes(link.name))
    .map(({ metric }) => metric);
  const own = Math.min(...metrics);
  const others = defaults.filter(({ links }) => !links.includes(link.name));
  if (nodeAddressOf(link, site) !== undefined) return true;
  return metrics.length > 0 && !others.some(({ metric }) => metric < own);
}

/**
 * Returns tables for the node's own outbound traffic: targets of rules without a selector. A table limited to some
 * sources belongs to other software, such as an egress gateway.
 */
function nodeTables({ rules }: Pick<Snapshot, 'rules'>): ReadonlySet<number> {
  const all = rules.filter(({ from, opaque }) => from === 'all' && !opaque);
  return new Set([rt.mainTable, rt.defaultTable, ...all.flatMap(({ table }) => table ?? [])]);
}

function defaultRoute({ link, owned }: TouchedNic, { host }: Site): Refusal | undefined {
  const tables = nodeTables(host);
  const route = host.routes.find(
    (item) =>
      isDefault(item) &&
      mayLeaveBy(item, link) &&
      tables.has(item.table) &&
      !owned.tables.includes(item.table),
  );
  if (!route) return undefined;
  const has = route.anyLink ? 'may be in the nexthop group of the' : 'has a';
  return refusal('PrimaryNIC', `${link.name} ${has} default route in table ${route.table}`);
}

function member({ link: { name, master } }: TouchedNic): Refusal | undefined {
  return master ? refusal('NICInUse', `${name} is a member of ${master}`) : undefined;
}

function lower({ link: { name } }: TouchedNic, { host }: Site): Refusal | undefined {
  const upper = upperLinks(host, name)[0];
  return upper && refusal('NICInUse', `${name} is the parent link of ${upper.name}`);
}

/** Refuses a NIC if a file's folder is missing, before any kernel change. */
export function unwritable({ paths }: WantedNic, { host }: Site): Refusal | undefined {
  const folders = paths.map((path) => dirname(path));
  const folder = host.missingFolders?.find((missing) => folders.includes(missing));
  if (folder === undefined) return undefined;
  return refusal('PersistFailed', `the node has no folder ${folder}; create it`);
}

/** Ignores kernel-made link-local addresses. */
function foreignAddress({ link, owned }: TouchedNic, { host }: Site): Refusal | undefined {
  const foreign = host.addresses.find((address) => {
    const ours = !address.opaque && owned.ips.includes(ipOf(address.cidr));
    return address.link === link.name && !isLinkLocal(address) && !ours;
  });
  return foreign && refusal('NICInUse', `${link.name} has the foreign address ${foreign.cidr}`);
}

/** Ignores kernel-made routes. */
function foreignRoute({ link, owned }: TouchedNic, { host }: Site): Refusal | undefined {
  const foreign = host.routes.find((route) => {
    if (!mayLeaveBy(route, link) || isKernelMade(route)) return false;
    const plain = route.type === rt.unicast && !route.opaque;
    return !(plain && isOwnRoute(route, owned));
  });
  if (!foreign) return undefined;
  const has = foreign.anyLink ? 'may be in the nexthop group of the' : 'has a';
  const message = `${link.name} ${has} foreign route to ${foreign.to} in table ${foreign.table}`;
  return refusal('NICInUse', message);
}
