import {
  contains,
  familyOf,
  hostPrefix,
  ipOf,
  networkOf,
  overlaps,
  plainForm,
  prefixOf,
} from '../../api/address.ts';
import { routingTable, rulePriority } from '../../api/names.ts';
import { nicOf } from '../identity.ts';
import { matchesPattern } from '../shell-pattern.ts';
import {
  type Address,
  type ConfigFile,
  linkNamed,
  type Route,
  rt,
  type Snapshot,
} from '../snapshot.ts';
import type { NicRecord } from '../state.ts';
import { type DesiredNic, sharedRoutes, usesIPv6 } from './desired.ts';
import { minIpv6Mtu } from './nic-state.ts';
import { isInheritedRule, isOwnRule, ownedBy, routeKey } from './ownership.ts';
import {
  type Check,
  isDefault,
  nodeAddressOf,
  type Refusal,
  refusal,
  type Site,
  type WantedNic,
} from './refusals.ts';

/** Refusal checks for a wanted NIC: each returns why the host rules out the requested configuration. */
export const unattainable: readonly Check<WantedNic>[] = [
  mtu,
  noIPv6,
  tableTaken,
  priorityTaken,
  addressTaken,
  overlapsPrimary,
  coversNode,
  overlapsForeign,
  pathTaken,
  claimed,
  unreadableFile,
  matchedByPattern,
  nameTaken,
];

function mtu({ desired, link: { name, maxMtu } }: WantedNic): Refusal | undefined {
  if (usesIPv6(desired) && desired.mtu < minIpv6Mtu) {
    return refusal('InvalidEntry', `mtu ${desired.mtu}: IPv6 needs at least ${minIpv6Mtu}`);
  }
  if (maxMtu === undefined || desired.mtu <= maxMtu) return undefined;
  const message = `mtu ${desired.mtu} exceeds ${maxMtu}, the maximum of ${name}`;
  return refusal('InvalidEntry', message);
}

/** A kernel without IPv6 has no `disable_ipv6` setting on any link. */
function noIPv6({ desired }: WantedNic, { host }: Site): Refusal | undefined {
  if (!usesIPv6(desired) || host.defaultSettings['ipv6.disable_ipv6'] !== undefined) {
    return undefined;
  }
  return refusal(
    'InvalidEntry',
    'addresses: IPv6 is requested, but the kernel of this node has no IPv6',
  );
}

function tableTaken({ link, desired }: WantedNic, { host }: Site): Refusal | undefined {
  const table = routingTable(desired.index);
  const route = host.routes.find(
    (item) => item.table === table && !(item.links.includes(link.name) && !item.opaque),
  );
  return route && refusal('TableInUse', `table ${table} has a foreign route to ${route.to}`);
}

/** The kernel keeps IPv4 and IPv6 rules apart. */
function priorityTaken(nic: WantedNic, { host }: Site): Refusal | undefined {
  const families = new Set(nic.desired.addresses.map(familyOf));
  const table = routingTable(nic.desired.index);
  const priority = rulePriority(nic.desired.index);
  const rule = host.rules.find(
    (item) =>
      families.has(item.family) &&
      !isOwnRule(item, nic.belongings) &&
      (item.priority === priority || (item.table === table && !isInheritedRule(item, table))),
  );
  return (
    rule &&
    refusal(
      'TableInUse',
      `foreign rule ${rule.priority} from ${rule.from} uses the priority or table of this NIC`,
    )
  );
}

/** Refuses a name held by another link, unless an accepted entry renames this link. Alternative names always block. */
function nameTaken(
  { link, desired: { name } }: WantedNic,
  { host, accepted }: Site,
): Refusal | undefined {
  const holder = linkNamed(host, name);
  if (!holder || holder.index === link.index) return undefined;
  const leaving = accepted.some(
    (other) => other.link.index === holder.index && other.desired.name !== holder.name,
  );
  if (leaving && holder.name === name) return undefined;
  return refusal('NICInUse', `the name ${name} is in use by the link with MAC ${holder.mac}`);
}

/**
 * Allows a path holding a managed file about this NIC, an accepted NIC or a recorded NIC. Also allows a path recorded
 * for this NIC, even if a user's edit changed the MAC inside.
 */
function pathTaken({ paths, desired, record }: WantedNic, site: Site): Refusal | undefined {
  const { host, accepted, records } = site;
  const ours = [desired, ...accepted.map((nic) => nic.desired), ...records].map(({ mac }) => mac);
  const written = record?.files.map(({ path }) => path) ?? [];
  const taken = host.files.find(
    ({ path, own }) =>
      paths.includes(path) && !(own && (ours.includes(own.mac) || written.includes(path))),
  );
  return (
    taken && refusal('PersistFailed', `${taken.path} is not managed by MultiNIC; move it away`)
  );
}

/** Refuses a NIC that a foreign file configures by MAC or name: after a boot two files would configure the NIC. */
function claimed(nic: WantedNic, { host }: Site): Refusal | undefined {
  const names = namesOf(nic, host);
  const claim = host.files.find(
    (file) => !file.own && (file.macs.includes(nic.desired.mac) || mentions(file, names)),
  );
  if (!claim) return undefined;
  return refusal('NICInUse', `${claim.path} configures the NIC; remove the NIC from that file`);
}

/**
 * Refuses a new NIC while a file is unreadable: the file may configure this NIC. A managed NIC already coexists with
 * the file and stays allowed.
 */
function unreadableFile({ record }: WantedNic, { host }: Site): Refusal | undefined {
  const file = record ? undefined : host.files.find((each) => each.unread !== undefined);
  if (!file) return undefined;
  const message = `${file.path} may configure the NIC and cannot be read: ${file.unread}; make it readable or move it away`;
  return refusal('NICInUse', message);
}

/**
 * Refuses a NIC matched by a file's name pattern: at the next boot the file would configure the NIC beside or instead
 * of ours.
 */
function matchedByPattern(nic: WantedNic, { host }: Site): Refusal | undefined {
  if (nic.record) return undefined;
  const all = namesOf(nic, host);
  const leavesOut = ({ except = [] }: ConfigFile) =>
    except.some((item) => item === nic.desired.mac || matchesAny(all, item));
  for (const file of host.files.filter((each) => !leavesOut(each))) {
    const { path, leases = [], patterns = [] } = file;
    const names = namesFor(file, all);
    const lease = leases.find((each) => matchesAny(names, each));
    const pattern = lease ?? patterns.find((each) => matchesAny(names, each));
    if (pattern === undefined) continue;
    const how = lease === undefined ? '' : ' by DHCP';
    const message = `${path} configures every NIC named ${pattern}${how}; exclude this NIC there`;
    return refusal(lease === undefined ? 'NICInUse' : 'LeasedByHost', message);
  }
  return undefined;
}

/**
 * Returns current, former and desired names: a file may exist for a name the NIC gets later. A former name now used by
 * another link is left out.
 */
function namesOf({ link, record, desired }: WantedNic, host: Snapshot): string[] {
  const former = record?.originalName ?? '';
  const isOthers = (linkNamed(host, former) ?? link).index !== link.index;
  const names = [link.name, ...link.altNames, isOthers ? '' : former, desired.name];
  return names.filter((name) => name !== '');
}

/** Returns the NIC names the file may apply to, without names excluded by `notNames`. */
function namesFor({ notNames = [] }: ConfigFile, own: readonly string[]): string[] {
  return own.filter((name) => !notNames.some((pattern) => matchesPattern(name, pattern)));
}

function matchesAny(names: readonly string[], pattern: string): boolean {
  return names.some((name) => matchesPattern(name, pattern));
}

function mentions(file: ConfigFile, own: readonly string[]): boolean {
  const names = namesFor(file, own);
  return file.names?.some((name) => names.includes(name)) ?? false;
}

/**
 * Uses reason NICInUse, because a Service with external addresses can cause the clash. Only the node's own address is
 * an entry error.
 */
function addressTaken(nic: WantedNic, site: Site): Refusal | undefined {
  const { desired, link: own } = nic;
  const wanted = new Set(desired.addresses.map(ipOf));
  const present = site.host.addresses.filter(({ link }) => link === own.name);
  const ownIps = new Set(present.map(({ cidr }) => ipOf(cidr)));
  const clash = addressesElsewhere(site).find(
    ({ cidr, link }) =>
      wanted.has(ipOf(cidr)) && !(ownIps.has(ipOf(cidr)) && isSilent(link, site.host)),
  );
  if (!clash) return undefined;
  const isNodes = site.protectedAddresses.map(plainForm).includes(plainForm(ipOf(clash.cidr)));
  const reason = isNodes ? 'InvalidEntry' : 'NICInUse';
  return refusal(reason, `address ${clash.cidr} is already on ${clash.link}`);
}

/** True if neighbours do not learn addresses from the link, such as kube-ipvs0. */
function isSilent(name: string, host: Snapshot): boolean {
  const link = linkNamed(host, name);
  return link !== undefined && (!link.up || link.noArp === true || link.kind === 'dummy');
}

/** Refuses a subnet overlapping the node's own subnet: the node's traffic could leave by this NIC. */
function overlapsPrimary({ desired }: WantedNic, site: Site): Refusal | undefined {
  const { host } = site;
  const primaries = new Set(
    host.links.filter((link) => nodeAddressOf(link, site) !== undefined).map(({ name }) => name),
  );
  for (const route of host.routes) {
    if (!isDefault(route) || route.table !== rt.mainTable) continue;
    for (const name of route.links) primaries.add(name);
  }
  return overlapWith(
    'SubnetOverlapsPrimary',
    reachedBy(desired),
    addressesElsewhere(site)
      .filter(({ link }) => primaries.has(link))
      .map(subnetOf),
  );
}

/**
 * Checks Node addresses separately: for a moment no link may have the address, and an external address is never on a
 * link.
 */
function coversNode({ desired }: WantedNic, { protectedAddresses }: Site): Refusal | undefined {
  const ip = protectedAddresses.find((each) =>
    reachedBy(desired).some((cidr) => contains(cidr, each)),
  );
  if (ip === undefined) return undefined;
  return refusal('SubnetOverlapsPrimary', `the node's address ${ip} is in the subnet of the NIC`);
}

/**
 * Refuses subnets overlapping foreign addresses or routes in main: Pod, VPN or other traffic could leave by this NIC.
 */
function overlapsForeign({ desired, record: own }: WantedNic, site: Site): Refusal | undefined {
  const { host, records } = site;
  const reached = reachedBy(desired);
  const reachedBefore = own ? reachedOf(own) : [];
  const owned = records.map((record) => ownedBy(record.mac, record, host));
  const ours = new Set(owned.flatMap(({ ips }) => ips));
  const shared = new Set(owned.flatMap(({ routes }) => routes));
  const recorded = new Set(
    records.flatMap(({ mac }) => nicOf(host, mac).links.map(({ name }) => name)),
  );
  const accepted = acceptedLinks(site);
  const subnets = addressesElsewhere(site)
    .filter(({ cidr }) => prefixOf(cidr) < hostPrefix(familyOf(cidr)) && !ours.has(ipOf(cidr)))
    .map(subnetOf);
  const routes = host.routes
    .filter((route) => isMainRoute(route) && !route.links.some((name) => accepted.has(name)))
    .filter(
      (item) =>
        !item.links.some((name) => recorded.has(name)) ||
        !(item.protocol === rt.protocolKernel || shared.has(routeKey(item))),
    )
    .map((item) => ({
      to: item.to,
      of: item.links.join(', ') || 'the main table',
      yieldsTo: reached.filter(
        (cidr) => yields(item, cidr, reachedBefore) || losesTo(item, cidr, desired.addresses, host),
      ),
    }));
  return overlapWith('SubnetOverlapsForeign', reached, [...subnets, ...routes]);
}

/**
 * True if the route loses to the NIC's subnet: a wider gateway route loses these packets by longest prefix, as a
 * default route does. The NIC's own routes in main are excluded: they would take packets for hosts behind the gateway,
 * such as Pods.
 */
function losesTo(route: Route, cidr: string, subnets: readonly string[], host: Snapshot): boolean {
  return (
    subnets.includes(cidr) &&
    isByGateway(route) &&
    widthBeyond(route, cidr) > 0 &&
    route.links.length > 0 &&
    route.links.every((name) => leavesNode(name, host))
  );
}

/**
 * True if gateways behind the link are routers outside the node: the link is a physical NIC or has a default route.
 * CNIs also give Pod routes a next hop, such as Cilium on a veth. A container node's own NIC is a veth with a default
 * route.
 */
function leavesNode(name: string, host: Snapshot): boolean {
  const link = linkNamed(host, name);
  if (link && link.kind === undefined) return true;
  return host.routes.some(
    (each) => isDefault(each) && each.table === rt.mainTable && each.links.includes(name),
  );
}

/** True if the NIC already reaches the network: a route added later loses no packets to the NIC. */
function yields(route: Route, cidr: string, reachedBefore: readonly string[]): boolean {
  const isConnected = route.protocol === rt.protocolKernel && !isByGateway(route);
  return widthBeyond(route, cidr) >= 0 && !isConnected && reachedBefore.includes(networkOf(cidr));
}

/** Returns by how many bits the route is wider than the network; -1 without an overlap. */
function widthBeyond({ to }: Route, cidr: string): number {
  return overlaps(to, cidr) ? prefixOf(cidr) - prefixOf(to) : -1;
}

function isByGateway({ via, behindGateway }: Route): boolean {
  return via !== undefined || behindGateway === true;
}

/** Returns networks the node already reaches by this managed NIC since an earlier run. */
function reachedOf({ addresses, routes = [] }: NicRecord): string[] {
  return [...addresses, ...routes.map(({ to }) => to)].map(networkOf);
}

/** Returns networks the node would reach by the NIC from any source address: subnets and routes in main. */
function reachedBy(desired: DesiredNic): string[] {
  return [...desired.addresses, ...sharedRoutes(desired).map(({ to }) => to)];
}

interface Subnet {
  readonly to: string;
  readonly of: string;
  /** NIC networks allowed to overlap this subnet. */
  readonly yieldsTo?: readonly string[];
}

function overlapWith(
  reason: 'SubnetOverlapsPrimary' | 'SubnetOverlapsForeign',
  wanted: readonly string[],
  subnets: readonly Subnet[],
): Refusal | undefined {
  for (const { to, of, yieldsTo } of subnets) {
    const overlap = wanted.find((cidr) => !yieldsTo?.includes(cidr) && overlaps(cidr, to));
    if (overlap) {
      return refusal(reason, `${networkOf(overlap)} overlaps ${networkOf(to)} of ${of}`);
    }
  }
  return undefined;
}

function subnetOf({ cidr, link }: Address): Subnet {
  return { to: cidr, of: link };
}

function isMainRoute(route: Route): boolean {
  return route.table === rt.mainTable && !route.to.endsWith('/0');
}

function addressesElsewhere(site: Site): Address[] {
  const accepted = acceptedLinks(site);
  return site.host.addresses.filter(({ link }) => !accepted.has(link));
}

function acceptedLinks({ accepted }: Site): Set<string> {
  return new Set(accepted.map(({ link }) => link.name));
}
