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

/** A NIC that something is to be done to. */
export interface TouchedNic {
  readonly link: Link;
  /** What of the host is known to be the NIC's own already. */
  readonly owned: Belongings;
}

/** A NIC that an entry of the request is about. */
export interface WantedNic extends TouchedNic {
  readonly record?: NicRecord;
  /** What it owns and what it is to own. */
  readonly belongings: Belongings;
  readonly desired: DesiredNic;
  /** Paths of the files that it will have, for good or for a while. */
  readonly paths: readonly string[];
}

/** What a NIC is among. */
export interface Site {
  readonly host: Snapshot;
  /** Addresses of the Node object. */
  readonly protectedAddresses: readonly string[];
  /** NICs that are ours already, asked for or not. */
  readonly records: readonly NicRecord[];
  /** NICs of the request that nothing is known against: what they have may be on the move. No other entry counts. */
  readonly accepted: readonly WantedNic[];
}

/** Why something must not be done to a NIC; undefined when this check knows nothing against it. */
export type Check<N extends TouchedNic> = (nic: N, site: Site) => Refusal | undefined;

/** What the first check that knows something against the NIC says. */
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

/** Why a link must never be touched, whatever is asked for: it carries the node itself. The carrier does not count. */
export const untouchable: readonly Check<TouchedNic>[] = [
  strangeName,
  leased,
  defaultRoute,
  nodeAddress,
];

/** Why a link must not be changed: something on it is not ours and would suffer. */
export const inUse: readonly Check<TouchedNic>[] = [member, lower, foreignAddress, foreignRoute];

/** Why a link cannot be a configured NIC, though nothing differs: the port of another device has no address of its own. */
export const unusable: readonly Check<TouchedNic>[] = [...untouchable, member];

export function isDefault({ to, type }: Route): boolean {
  return to.endsWith('/0') && type === rt.unicast;
}

/** Whether the route leaves by the link, as far as anybody knows. */
function mayLeaveBy({ links, anyLink }: Route, { name }: Link): boolean {
  return anyLink === true || links.includes(name);
}

interface NodeAddresses extends Pick<Site, 'protectedAddresses'> {
  readonly host: Pick<Snapshot, 'addresses'>;
}

/** Whether the link has an address of the Node object. */
export function nodeAddressOf(
  link: Link,
  { host, protectedAddresses }: NodeAddresses,
): string | undefined {
  // The kernel and Kubernetes shorten IPv6 in their own ways.
  const nodes = new Set(protectedAddresses.map(plainForm));
  const own = host.addresses.filter((item) => item.link === link.name);
  return own.map(({ cidr }) => plainForm(ipOf(cidr))).find((ip) => nodes.has(ip));
}

/** `ip -batch` splits lines at spaces and quotes, and a setting's path at slashes. */
function strangeName({ link: { name } }: TouchedNic): Refusal | undefined {
  if (/^[\w.@+-]+$/.test(name)) return undefined;
  return refusal('NICInUse', `the link's name ${JSON.stringify(name)} has unusual characters`);
}

function nodeAddress({ link }: TouchedNic, site: Site): Refusal | undefined {
  const ip = nodeAddressOf(link, site);
  return ip === undefined
    ? undefined
    : refusal('PrimaryNIC', `${link.name} has the node's address ${ip}`);
}

/**
 * The host's own network manager took a plugged NIC by its file for every NIC, address, default route and all. That does
 * not make it the primary one: another link is the node's way out.
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
  const giver = (address ?? route)?.family === 6 ? "a router's advertisement" : "the host's DHCP";
  return refusal('LeasedByHost', `${giver} gave ${link.name} ${what}`);
}

/** Who makes routes of what a network announces. */
export const leasing: ReadonlySet<number> = new Set<number>([rt.protocolDhcp, rt.protocolRa]);

/** Whether it has the node's address, or no other link has a default route of main that the kernel would rather use. */
export function isPrimary(
  link: Link,
  site: Pick<Site, 'protectedAddresses'> & {
    readonly host: Pick<Snapshot, 'addresses' | 'routes'>;
  },
): boolean {
  const ways = site.host.routes.filter((item) => isDefault(item) && item.table === rt.mainTable);
  const four = ways.filter(({ family }) => family === 4);
  const defaults = four.length > 0 ? four : ways;
  const metrics = defaults
    .filter(({ links }) => links.includes(link.name))
    .map(({ metric }) => metric);
  const own = Math.min(...metrics);
  const others = defaults.filter(({ links }) => !links.includes(link.name));
  if (nodeAddressOf(link, site) !== undefined) return true;
  return metrics.length > 0 && !others.some(({ metric }) => metric < own);
}

/**
 * Tables by which the node itself finds its way out: those that a rule without any selector leads to. A table for the traffic of
 * some sources alone is other software's, as that of an egress gateway.
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
  return upper && refusal('NICInUse', `${upper.name} sits on ${name}`);
}

/** Why the files of a NIC cannot be written: found before the kernel is changed. */
export function unwritable({ paths }: WantedNic, { host }: Site): Refusal | undefined {
  const folders = paths.map((path) => dirname(path));
  const folder = host.missingFolders?.find((missing) => folders.includes(missing));
  if (folder === undefined) return undefined;
  return refusal('PersistFailed', `the node has no folder ${folder}; create it`);
}

/** What the kernel makes by itself from the link does not count. */
function foreignAddress({ link, owned }: TouchedNic, { host }: Site): Refusal | undefined {
  const foreign = host.addresses.find((address) => {
    const ours = !address.opaque && owned.ips.includes(ipOf(address.cidr));
    return address.link === link.name && !isLinkLocal(address) && !ours;
  });
  return foreign && refusal('NICInUse', `${link.name} has the address ${foreign.cidr}`);
}

/** Routes that the kernel makes do not count. */
function foreignRoute({ link, owned }: TouchedNic, { host }: Site): Refusal | undefined {
  const foreign = host.routes.find((route) => {
    if (!mayLeaveBy(route, link) || isKernelMade(route)) return false;
    const plain = route.type === rt.unicast && !route.opaque;
    return !(plain && isOwnRoute(route, owned));
  });
  if (!foreign) return undefined;
  const has = foreign.anyLink ? 'may be in the nexthop group of the' : 'has a';
  const message = `${link.name} ${has} route to ${foreign.to}, table ${foreign.table}`;
  return refusal('NICInUse', message);
}
