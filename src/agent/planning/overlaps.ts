import {
  contains,
  familyOf,
  hostPrefix,
  ipOf,
  networkOf,
  overlaps,
  prefixOf,
} from '../../api/address.ts';
import { clusterNetworkText, clusterOverlap } from '../../api/cluster-networks.ts';
import { coded } from '../../api/nic-codes.ts';
import { nicOf } from '../identity.ts';
import { isDefault, nodeAddressOf } from '../own-link.ts';
import { type Address, linkNamed, type Route, rt, type Snapshot } from '../snapshot.ts';
import type { NicRecord } from '../state.ts';
import { type DesiredNic, sharedRoutes } from './desired.ts';
import { ownedBy, routeKey } from './ownership.ts';
import { type Refusal, type RefusalFacts, refusal, type WantedNic } from './refusals.ts';

/** Refuses a subnet overlapping the node's own subnet: the node's traffic could leave by this NIC. */
export function overlapsPrimary({ desired }: WantedNic, site: RefusalFacts): Refusal | undefined {
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
export function coversNode(
  { desired }: WantedNic,
  { protectedAddresses }: RefusalFacts,
): Refusal | undefined {
  const ip = protectedAddresses.find((each) =>
    reachedBy(desired).some((cidr) => contains(cidr, each)),
  );
  if (ip === undefined) return undefined;
  return refusal(
    'SubnetOverlapsPrimary',
    `the node's address ${ip} is in the subnet of the NIC`,
    coded('OverlapsNodeAddress', { address: ip }),
  );
}

/**
 * Refuses subnets overlapping foreign addresses or routes in main: Pod, VPN or other traffic could leave by this NIC.
 */
export function overlapsForeign(
  { desired, record: own }: WantedNic,
  site: RefusalFacts,
): Refusal | undefined {
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
 * default route does. So do the two halves of a VPN's default route, and reject routes for large networks. The NIC's
 * own routes in main are excluded: they would take packets for hosts behind the gateway, such as Pods.
 */
function losesTo(route: Route, cidr: string, subnets: readonly string[], host: Snapshot): boolean {
  if (!subnets.includes(cidr) || widthBeyond(route, cidr) <= 0) return false;
  if (isWideReject(route) || prefixOf(route.to) <= 1) return true;
  return (
    isByGateway(route) &&
    route.links.length > 0 &&
    route.links.every((name) => leavesNode(name, host))
  );
}

/** Longest prefix of reject routes for private networks as a whole; CNIs reject single Pod networks. */
const widestReject = { 4: 16, 6: 32 } as const;

/** True for blackhole, unreachable and prohibit routes to a large network. */
function isWideReject({ type, to, links }: Route): boolean {
  return type !== rt.unicast && links.length === 0 && prefixOf(to) <= widestReject[familyOf(to)];
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
      return refusal(
        reason,
        `${networkOf(overlap)} overlaps ${networkOf(to)} of ${of}`,
        coded('OverlapsNetwork', { network: networkOf(to), of }),
      );
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

export function addressesElsewhere(site: RefusalFacts): Address[] {
  const accepted = acceptedLinks(site);
  return site.host.addresses.filter(({ link }) => !accepted.has(link));
}

function acceptedLinks({ accepted }: RefusalFacts): Set<string> {
  return new Set(accepted.map(({ link }) => link.name));
}

/** Returns networks the node already reaches by this managed NIC since an earlier run. */
function reachedOf({ addresses, routes = [] }: NicRecord): string[] {
  return [...addresses, ...routes.map(({ to }) => to)].map(networkOf);
}

/** Returns networks the node would reach by the NIC from any source address: subnets and routes in main. */
function reachedBy(desired: DesiredNic): string[] {
  return [...desired.addresses, ...sharedRoutes(desired).map(({ to }) => to)];
}

/**
 * Refuses networks overlapping the cluster's Services or Pods: the node's own connections to Services would use the
 * NIC's address. Service addresses have no route, so the snapshot shows none of them.
 */
export function overlapsCluster(
  { desired, record }: WantedNic,
  { clusterNetworks = [] }: RefusalFacts,
): Refusal | undefined {
  const found = clusterOverlap(
    reachedBy(desired),
    record ? reachedOf(record) : [],
    clusterNetworks,
  );
  if (!found) return undefined;
  const overlap = `${networkOf(found.reached)} overlaps ${clusterNetworkText(found.network)}`;
  return refusal(
    'SubnetOverlapsCluster',
    overlap,
    coded('OverlapsClusterNetwork', { network: found.network.cidr, use: found.network.use }),
  );
}
