import { dirname } from 'node:path';
import { ipOf } from '../../api/address.ts';
import type { ClusterNetwork } from '../../api/cluster-networks.ts';
import type { NicReason } from '../../api/job.ts';
import { type Coded, coded } from '../../api/nic-codes.ts';
import { hasOnlyDefault, isDefault, isPrimary, nodeAddressOf } from '../own-link.ts';
import { isKernelMade, type Link, type Route, rt, type Snapshot, upperLinks } from '../snapshot.ts';
import type { NicRecord } from '../state.ts';
import type { DesiredNic } from './desired.ts';
import { isLinkLocal } from './nic-state.ts';
import { type Belongings, isOwnRoute, type Takeover } from './ownership.ts';

export interface Refusal extends Partial<Coded> {
  readonly reason: NicReason;
  readonly message: string;
}

/** Returns a refusal; `found` tells cases of one reason apart. */
export const refusal = (reason: NicReason, message: string, found?: Coded): Refusal => ({
  reason,
  message,
  ...found,
});

/** NIC subject to an operation. */
export interface TouchedNic {
  readonly link: Link;
  /** Ownership keys for the NIC's existing state. */
  readonly owned: Belongings;
  /** Ownership keys, existing and desired: a wanted address is never foreign. */
  readonly belongings?: Belongings;
}

/** NIC named in a request entry. */
export interface WantedNic extends TouchedNic {
  readonly record?: NicRecord;
  /** Ownership keys, existing and desired. */
  readonly belongings: Belongings;
  readonly desired: DesiredNic;
  /** Paths for permanent and interim files. */
  readonly paths: readonly string[];
  /** Foreign configuration the agent takes over; absent: none, or not permitted. */
  readonly takeover?: Takeover | undefined;
}

/** Surroundings for checks on a NIC. */
export interface RefusalFacts {
  readonly host: Snapshot;
  /** Node object addresses. */
  readonly protectedAddresses: readonly string[];
  /** Networks of the cluster's Services and Pods; undefined: unknown. */
  readonly clusterNetworks?: readonly ClusterNetwork[] | undefined;
  /** All managed NICs, requested or not. */
  readonly records: readonly NicRecord[];
  /** NICs with a blocked removal; undefined: none. */
  readonly blocked?: readonly NicRecord[];
  /** Requested NICs without a refusal: their names and addresses may move. Refused entries do not count. */
  readonly accepted: readonly WantedNic[];
}

/** Returns why a NIC must not be changed; undefined: no objection. */
export type Check<N extends TouchedNic> = (nic: N, site: RefusalFacts) => Refusal | undefined;

/** Returns the first refusal; undefined if no check objects. */
export function firstRefusal<N extends TouchedNic>(
  checks: readonly Check<N>[],
  nic: N,
  site: RefusalFacts,
): Refusal | undefined {
  for (const check of checks) {
    const found = check(nic, site);
    if (found) return found;
  }
  return undefined;
}

/** Refuses an unmanaged link that sends with another MAC: nothing proves that its change is ours to undo. */
export function changedMac({ link, record }: WantedNic): Refusal | undefined {
  if (link.sendsAs === undefined || record) return undefined;
  return refusal(
    'MACChanged',
    `${link.name} sends as ${link.sendsAs}`,
    coded('SendsWithOtherMac', { link: link.name, mac: link.sendsAs }),
  );
}

/** Checks for links carrying the node itself: such a link is never touched. The carrier does not count. */
const untouchable: readonly Check<TouchedNic>[] = [strangeName, leased, defaultRoute, nodeAddress];

/** Checks for foreign users on a link: a change would disrupt them. */
const inUse: readonly Check<TouchedNic>[] = [member, lower, foreignAddress, foreignRoute];

/** Permission to change a NIC, asked only if something must change. */
export const permission: readonly Check<TouchedNic>[] = [...untouchable, ...inUse];

/** Diagnosis: links unusable as a configured NIC even without differences. A bridge or bond port has no address. */
export const unusable: readonly Check<TouchedNic>[] = [member, nodeAddress];

/** True if the route may leave by the link; a route with unknown links counts. */
function mayLeaveBy({ links, anyLink }: Route, { name }: Link): boolean {
  return anyLink === true || links.includes(name);
}

/** Refuses unusual names: `ip -batch` splits lines at spaces and quotes, and a sysctl path splits at slashes. */
function strangeName({ link: { name } }: TouchedNic): Refusal | undefined {
  if (/^[\w.@+-]+$/.test(name)) return undefined;
  return refusal(
    'NICInUse',
    `link name ${JSON.stringify(name)} has unsupported characters`,
    coded('NameUnsupported', { link: name }),
  );
}

function nodeAddress({ link }: TouchedNic, site: RefusalFacts): Refusal | undefined {
  const ip = nodeAddressOf(link, site);
  return ip === undefined
    ? undefined
    : refusal(
        'PrimaryNIC',
        `${link.name} has the node's address ${ip}`,
        coded('NodeAddress', { link: link.name, address: ip }),
      );
}

/**
 * Refuses a link leased by the host's network manager: a file for every NIC gave a plugged NIC an address and a default
 * route. Such a link is not primary, as the node leaves by another link.
 */
function leased({ link, owned }: TouchedNic, site: RefusalFacts): Refusal | undefined {
  const { host } = site;
  const address = host.addresses.find(
    ({ link: on, temporary, cidr }) =>
      on === link.name && temporary && !owned.ips.includes(ipOf(cidr)),
  );
  const route = host.routes.find(
    (item) =>
      leasing.has(item.protocol) && item.links.includes(link.name) && !isOwnRoute(item, owned),
  );
  const found = address
    ? coded('LeasedAddress', { link: link.name, address: address.cidr })
    : route && coded('LeasedRoute', { link: link.name, to: route.to });
  const what = address ? `the address ${address.cidr}` : route && `a route to ${route.to}`;
  if (!what || isNeeded(link, site)) return undefined;
  const giver = (address ?? route)?.family === 6 ? 'a router advertisement' : "the host's DHCP";
  return refusal('LeasedByHost', `${giver} gave ${link.name} ${what}`, found);
}

/** True if the node needs the link: for its address, or for the only default route. */
export function isNeeded(
  link: Link,
  site: Pick<RefusalFacts, 'host' | 'protectedAddresses'>,
): boolean {
  return isPrimary(link, site) || hasOnlyDefault(link, site.host);
}

/** Protocols for routes learned from the network: DHCP and router advertisements. */
export const leasing: ReadonlySet<number> = new Set<number>([rt.protocolDhcp, rt.protocolRa]);

/**
 * Returns tables for the node's own outbound traffic: targets of rules without a selector. A table limited to some
 * sources belongs to other software, such as an egress gateway.
 */
function nodeTables({ rules }: Pick<Snapshot, 'rules'>): ReadonlySet<number> {
  const all = rules.filter(({ from, opaque }) => from === 'all' && !opaque);
  return new Set([rt.mainTable, rt.defaultTable, ...all.flatMap(({ table }) => table ?? [])]);
}

function defaultRoute({ link, owned }: TouchedNic, { host }: RefusalFacts): Refusal | undefined {
  const tables = nodeTables(host);
  const route = host.routes.find(
    (item) =>
      isDefault(item) &&
      mayLeaveBy(item, link) &&
      tables.has(item.table) &&
      !isOwnRoute(item, owned),
  );
  if (!route) return undefined;
  const has = route.anyLink ? 'may be in the nexthop group of the' : 'has a';
  return refusal(
    'PrimaryNIC',
    `${link.name} ${has} default route in table ${route.table}`,
    coded('NodeDefaultRoute', { link: link.name, table: route.table }),
  );
}

function member({ link: { name, master } }: TouchedNic): Refusal | undefined {
  return master
    ? refusal(
        'NICInUse',
        `${name} is a member of ${master}`,
        coded('LinkHasMaster', { link: name, master }),
      )
    : undefined;
}

function lower({ link: { name } }: TouchedNic, { host }: RefusalFacts): Refusal | undefined {
  const upper = upperLinks(host, name)[0];
  return (
    upper &&
    refusal(
      'NICInUse',
      `${name} is the parent link of ${upper.name}`,
      coded('LinkHasUpper', { link: name, upper: upper.name }),
    )
  );
}

/** Refuses a NIC if a file's folder is missing, before any kernel change. */
export function unwritable({ paths }: WantedNic, { host }: RefusalFacts): Refusal | undefined {
  const folders = paths.map((path) => dirname(path));
  const folder = host.missingFolders?.find((missing) => folders.includes(missing));
  if (folder === undefined) return undefined;
  return refusal(
    'PersistFailed',
    `the node has no folder ${folder}; create it`,
    coded('FolderMissing', { folder }),
  );
}

/** Ignores kernel-made link-local addresses. */
function foreignAddress(nic: TouchedNic, { host }: RefusalFacts): Refusal | undefined {
  const { link, owned: existing, belongings: owned = existing } = nic;
  const foreign = host.addresses.find((address) => {
    const ours = !address.opaque && owned.ips.includes(ipOf(address.cidr));
    return address.link === link.name && !isLinkLocal(address) && !ours;
  });
  return (
    foreign &&
    refusal(
      'NICInUse',
      `${link.name} has the foreign address ${foreign.cidr}`,
      coded('ForeignAddress', { link: link.name, address: foreign.cidr }),
    )
  );
}

/** Ignores kernel-made routes. */
function foreignRoute({ link, owned }: TouchedNic, { host }: RefusalFacts): Refusal | undefined {
  const foreign = host.routes.find((route) => {
    if (!mayLeaveBy(route, link) || isKernelMade(route)) return false;
    // Router advertisements come again by themselves: nothing has to be restored.
    const plain = route.type === rt.unicast && (!route.opaque || route.protocol === rt.protocolRa);
    return !(plain && isOwnRoute(route, owned));
  });
  if (!foreign) return undefined;
  const has = foreign.anyLink ? 'may be in the nexthop group of the' : 'has a';
  const message = `${link.name} ${has} foreign route to ${foreign.to} in table ${foreign.table}`;
  const { to, table } = foreign;
  return refusal('NICInUse', message, coded('ForeignRoute', { link: link.name, to, table }));
}
