import { networkOf, overlaps } from '../../../api/address.ts';
import { type Address, type Route, rt } from '../../host.ts';
import { contains, ipOf, prefixOf } from '../ipv4.ts';
import { linksWithMac } from '../links.ts';
import { ownedBy } from '../ownership.ts';
import {
  isDefault,
  nodeAddressOf,
  type Refusal,
  refusal,
  type Site,
  type WantedNic,
} from './refusal.ts';

export function addressTaken({ desired }: WantedNic, site: Site): Refusal | undefined {
  for (const { cidr, link } of othersAddresses(site)) {
    const clash = desired.addresses.find((item) => ipOf(item) === ipOf(cidr));
    if (clash) return refusal('InvalidEntry', `address ${clash} is on ${link}`);
  }
  return undefined;
}

/** Traffic of the node's own subnet could leave by the NIC. */
export function overlapsPrimary({ desired }: WantedNic, site: Site): Refusal | undefined {
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
    desired.addresses,
    othersAddresses(site)
      .filter(({ link }) => primaries.has(link))
      .map(subnetOf),
  );
}

/** The node's address may be on no link at all for a moment, and in an external subnet for good. */
export function coversNode(
  { desired }: WantedNic,
  { protectedAddresses }: Site,
): Refusal | undefined {
  const ip = protectedAddresses.find(
    (each) => !each.includes(':') && desired.addresses.some((cidr) => contains(cidr, each)),
  );
  if (ip === undefined) return undefined;
  return refusal('SubnetOverlapsPrimary', `the node's address ${ip} is in the subnet of the NIC`);
}

/** Traffic of pods, of a VPN, or of any other subnet or route of main could leave by the NIC. */
export function overlapsForeign({ desired }: WantedNic, site: Site): Refusal | undefined {
  const { host, records } = site;
  const ours = new Set(records.flatMap((record) => ownedBy(record.mac, record, host).ips));
  const recorded = new Set(
    records.flatMap(({ mac }) => linksWithMac(host, mac)).map(({ name }) => name),
  );
  const accepted = acceptedLinks(site);
  const subnets = othersAddresses(site)
    .filter(({ cidr }) => prefixOf(cidr) < 32 && !ours.has(ipOf(cidr)))
    .map(subnetOf);
  const routes = host.routes
    .filter((route) => isMainRoute(route) && !route.links.some((name) => accepted.has(name)))
    .filter(
      ({ protocol, links }) =>
        protocol !== rt.protocolKernel || !links.some((name) => recorded.has(name)),
    )
    .map(({ to, links }) => ({ to, of: links.join(', ') || 'the main table' }));
  return overlapWith('SubnetOverlapsForeign', desired.addresses, [...subnets, ...routes]);
}

interface Subnet {
  readonly to: string;
  readonly of: string;
}

function overlapWith(
  reason: 'SubnetOverlapsPrimary' | 'SubnetOverlapsForeign',
  wanted: readonly string[],
  subnets: readonly Subnet[],
): Refusal | undefined {
  for (const { to, of } of subnets) {
    const overlap = wanted.find((cidr) => overlaps(cidr, to));
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
  return route.family === 4 && route.table === rt.mainTable && !route.to.endsWith('/0');
}

function othersAddresses(site: Site): Address[] {
  const accepted = acceptedLinks(site);
  return site.host.addresses.filter(({ family, link }) => family === 4 && !accepted.has(link));
}

function acceptedLinks({ accepted }: Site): Set<string> {
  return new Set(accepted.map(({ link }) => link.name));
}
