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

/** Why a NIC cannot be what an entry asks for. */
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
  unread,
  caught,
  nameTaken,
];

function mtu({ desired, link: { name, maxMtu } }: WantedNic): Refusal | undefined {
  if (usesIPv6(desired) && desired.mtu < minIpv6Mtu) {
    return refusal('InvalidEntry', `mtu ${desired.mtu}: IPv6 needs at least ${minIpv6Mtu}`);
  }
  if (maxMtu === undefined || desired.mtu <= maxMtu) return undefined;
  const message = `mtu ${desired.mtu} is above ${maxMtu}, the most ${name} takes`;
  return refusal('InvalidEntry', message);
}

/** A kernel that was started without IPv6 has no such setting of any link. */
function noIPv6({ desired }: WantedNic, { host }: Site): Refusal | undefined {
  if (!usesIPv6(desired) || host.defaultSettings['ipv6.disable_ipv6'] !== undefined) {
    return undefined;
  }
  return refusal('InvalidEntry', 'addresses: the kernel of this node has no IPv6');
}

function tableTaken({ link, desired }: WantedNic, { host }: Site): Refusal | undefined {
  const table = routingTable(desired.index);
  const route = host.routes.find(
    (item) => item.table === table && !(item.links.includes(link.name) && !item.opaque),
  );
  return route && refusal('TableInUse', `table ${table} has a route to ${route.to}`);
}

/** The kernel keeps rules of the two families apart. */
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
    rule && refusal('TableInUse', `rule ${rule.priority} from ${rule.from} is not of this NIC`)
  );
}

/** Another link has the name and will not give it up; an alternative name is never given up. */
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
  return refusal('NICInUse', `the name ${name} belongs to another NIC, ${holder.mac}`);
}

/** A path may hold a file of ours, about this NIC, or about one that gives the path up, or edited so that it is about another. */
function pathTaken({ paths, desired, record }: WantedNic, site: Site): Refusal | undefined {
  const { host, accepted, records } = site;
  const ours = [desired, ...accepted.map((nic) => nic.desired), ...records].map(({ mac }) => mac);
  const written = record?.files.map(({ path }) => path) ?? [];
  const taken = host.files.find(
    ({ path, own }) =>
      paths.includes(path) && !(own && (ours.includes(own.mac) || written.includes(path))),
  );
  return (
    taken && refusal('PersistFailed', `${taken.path} is a file of somebody else; move it away`)
  );
}

/** A file of somebody else configures the NIC, by its MAC or by a name: after a boot two would. */
function claimed(nic: WantedNic, { host }: Site): Refusal | undefined {
  const names = namesOf(nic, host);
  const claim = host.files.find(
    (file) => !file.own && (file.macs.includes(nic.desired.mac) || mentions(file, names)),
  );
  if (!claim) return undefined;
  return refusal('NICInUse', `${claim.path} configures the NIC; take it out of there`);
}

/** What nobody can read may configure this very NIC. One of ours went on beside it and may. */
function unread({ record }: WantedNic, { host }: Site): Refusal | undefined {
  const file = record ? undefined : host.files.find((each) => each.unread !== undefined);
  if (!file) return undefined;
  const message = `${file.path} may configure the NIC, the agent cannot read it: ${file.unread}`;
  return refusal('NICInUse', message);
}

/** A file for every NIC of such a name would configure this one at the next boot, in place of ours or beside it. */
function caught(nic: WantedNic, { host }: Site): Refusal | undefined {
  if (nic.record) return undefined;
  const all = namesOf(nic, host);
  const leavesOut = ({ except = [] }: ConfigFile) =>
    except.some((item) => item === nic.desired.mac || isAny(all, item));
  for (const file of host.files.filter((each) => !leavesOut(each))) {
    const { path, leases = [], patterns = [] } = file;
    const names = namesFor(file, all);
    const lease = leases.find((each) => isAny(names, each));
    const pattern = lease ?? patterns.find((each) => isAny(names, each));
    if (pattern === undefined) continue;
    const how = lease === undefined ? '' : ' by DHCP';
    const message = `${path} has every NIC named ${pattern} configured${how}; leave this one out`;
    return refusal(lease === undefined ? 'NICInUse' : 'LeasedByHost', message);
  }
  return undefined;
}

/**
 * Those it has, had, and is to have: a file may be there for the name of a NIC that does not have it yet. One that it had and
 * another NIC has now is the other one's.
 */
function namesOf({ link, record, desired }: WantedNic, host: Snapshot): string[] {
  const former = record?.originalName ?? '';
  const isOthers = (linkNamed(host, former) ?? link).index !== link.index;
  const names = [link.name, ...link.altNames, isOthers ? '' : former, desired.name];
  return names.filter((name) => name !== '');
}

/** Of the names of a NIC, those that the file may be about. */
function namesFor({ notNames = [] }: ConfigFile, own: readonly string[]): string[] {
  return own.filter((name) => !notNames.some((pattern) => matchesPattern(name, pattern)));
}

function isAny(names: readonly string[], pattern: string): boolean {
  return names.some((name) => matchesPattern(name, pattern));
}

function mentions(file: ConfigFile, own: readonly string[]): boolean {
  const names = namesFor(file, own);
  return file.names?.some((name) => names.includes(name)) ?? false;
}

/** Not a fault of the entry, unless it asks for the node's own address: a Service with external addresses can cause it. */
function addressTaken(nic: WantedNic, site: Site): Refusal | undefined {
  const { desired, link: own } = nic;
  const wanted = new Set(desired.addresses.map(ipOf));
  const present = site.host.addresses.filter(({ link }) => link === own.name);
  const has = new Set(present.map(({ cidr }) => ipOf(cidr)));
  const clash = othersAddresses(site).find(
    ({ cidr, link }) =>
      wanted.has(ipOf(cidr)) && !(has.has(ipOf(cidr)) && isSilent(link, site.host)),
  );
  if (!clash) return undefined;
  const isNodes = site.protectedAddresses.map(plainForm).includes(plainForm(ipOf(clash.cidr)));
  const reason = isNodes ? 'InvalidEntry' : 'NICInUse';
  return refusal(reason, `the address ${clash.cidr} is on ${clash.link}`);
}

/** Whether no neighbour learns of the link's addresses by it, as of those of kube-ipvs0. */
function isSilent(name: string, host: Snapshot): boolean {
  const link = linkNamed(host, name);
  return link !== undefined && (!link.up || link.noArp === true || link.kind === 'dummy');
}

/** Traffic of the node's own subnet could leave by the NIC. */
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
    othersAddresses(site)
      .filter(({ link }) => primaries.has(link))
      .map(subnetOf),
  );
}

/** The node's address may be on no link at all for a moment, and in an external subnet for good. */
function coversNode({ desired }: WantedNic, { protectedAddresses }: Site): Refusal | undefined {
  const ip = protectedAddresses.find((each) =>
    reachedBy(desired).some((cidr) => contains(cidr, each)),
  );
  if (ip === undefined) return undefined;
  return refusal('SubnetOverlapsPrimary', `the node's address ${ip} is in the subnet of the NIC`);
}

/** Traffic of pods, of a VPN, or of any other subnet or route of main could leave by the NIC. */
function overlapsForeign({ desired, record: own }: WantedNic, site: Site): Refusal | undefined {
  const { host, records } = site;
  const reached = reachedBy(desired);
  const settled = own ? reachedOf(own) : [];
  const owned = records.map((record) => ownedBy(record.mac, record, host));
  const ours = new Set(owned.flatMap(({ ips }) => ips));
  const shared = new Set(owned.flatMap(({ routes }) => routes));
  const recorded = new Set(
    records.flatMap(({ mac }) => nicOf(host, mac).links.map(({ name }) => name)),
  );
  const accepted = acceptedLinks(site);
  const subnets = othersAddresses(site)
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
        (cidr) => yields(item, cidr, settled) || losesTo(item, cidr, desired.addresses, host),
      ),
    }));
  return overlapWith('SubnetOverlapsForeign', reached, [...subnets, ...routes]);
}

/**
 * Whether the NIC may have this subnet beside the route: a wider one by a gateway loses its packets as a default route does, by
 * the longest prefix. A route of the NIC in main would take packets for hosts behind that gateway, such as Pods.
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
 * Whether a gateway behind the link is a router of the node's surroundings: the link is a NIC, or has a default route. A CNI gives
 * a next hop to routes of Pods, too, as Cilium does on a veth. A container's veth with a default route is the node's NIC.
 */
function leavesNode(name: string, host: Snapshot): boolean {
  const link = linkNamed(host, name);
  if (link && link.kind === undefined) return true;
  return host.routes.some(
    (each) => isDefault(each) && each.table === rt.mainTable && each.links.includes(name),
  );
}

/** Whether the NIC has the network already: it takes nothing from a route that came later. */
function yields(route: Route, cidr: string, settled: readonly string[]): boolean {
  const isConnected = route.protocol === rt.protocolKernel && !isByGateway(route);
  return widthBeyond(route, cidr) >= 0 && !isConnected && settled.includes(networkOf(cidr));
}

/** By how many bits the route is wider than a network that it overlaps; -1 for one that it does not overlap. */
function widthBeyond({ to }: Route, cidr: string): number {
  return overlaps(to, cidr) ? prefixOf(cidr) - prefixOf(to) : -1;
}

function isByGateway({ via, behindGateway }: Route): boolean {
  return via !== undefined || behindGateway === true;
}

/** The networks that the node reaches by a NIC of ours since an earlier run. */
function reachedOf({ addresses, routes = [] }: NicRecord): string[] {
  return [...addresses, ...routes.map(({ to }) => to)].map(networkOf);
}

/** The networks that the node would reach by the NIC, whoever sends: its subnets and its routes in main. */
function reachedBy(desired: DesiredNic): string[] {
  return [...desired.addresses, ...sharedRoutes(desired).map(({ to }) => to)];
}

interface Subnet {
  readonly to: string;
  readonly of: string;
  /** Networks that may be in this one all the same. */
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

function othersAddresses(site: Site): Address[] {
  const accepted = acceptedLinks(site);
  return site.host.addresses.filter(({ link }) => !accepted.has(link));
}

function acceptedLinks({ accepted }: Site): Set<string> {
  return new Set(accepted.map(({ link }) => link.name));
}
