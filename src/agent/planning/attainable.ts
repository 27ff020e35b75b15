import { familyOf, ipOf, plainForm } from '../../api/address.ts';
import { routingTable, rulePriority } from '../../api/names.ts';
import { coded } from '../../api/nic-codes.ts';
import { linkNamed, type Snapshot } from '../snapshot.ts';
import { usesIPv6 } from './desired.ts';
import { matchedByPattern, unreadableFile } from './file-claims.ts';
import { minIpv6Mtu } from './nic-state.ts';
import {
  addressesElsewhere,
  coversNode,
  overlapsCluster,
  overlapsForeign,
  overlapsPrimary,
} from './overlaps.ts';
import { isInheritedRule, isOwnRule } from './ownership.ts';
import {
  type Check,
  type Refusal,
  type RefusalFacts,
  refusal,
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
  overlapsCluster,
  overlapsForeign,
  pathTaken,
  unreadableFile,
  matchedByPattern,
  nameTaken,
];

function mtu({ desired, link: { name, maxMtu } }: WantedNic): Refusal | undefined {
  if (usesIPv6(desired) && desired.mtu < minIpv6Mtu) {
    return refusal(
      'InvalidEntry',
      `mtu ${desired.mtu}: IPv6 needs at least ${minIpv6Mtu}`,
      coded('MtuTooSmall', { mtu: desired.mtu, min: minIpv6Mtu }),
    );
  }
  if (maxMtu === undefined || desired.mtu <= maxMtu) return undefined;
  const message = `mtu ${desired.mtu} exceeds ${maxMtu}, the maximum of ${name}`;
  return refusal('InvalidEntry', message, coded('MtuTooLarge', { mtu: desired.mtu, max: maxMtu }));
}

/** A kernel without IPv6 has no `disable_ipv6` setting on any link. */
function noIPv6({ desired }: WantedNic, { host }: RefusalFacts): Refusal | undefined {
  if (!usesIPv6(desired) || host.defaultSettings['ipv6.disable_ipv6'] !== undefined) {
    return undefined;
  }
  return refusal(
    'InvalidEntry',
    'addresses: IPv6 is requested, but the kernel of this node has no IPv6',
    coded('NoIPv6', {}),
  );
}

function tableTaken({ link, desired }: WantedNic, { host }: RefusalFacts): Refusal | undefined {
  const table = routingTable(desired.index);
  const route = host.routes.find(
    (item) => item.table === table && !(item.links.includes(link.name) && !item.opaque),
  );
  return (
    route &&
    refusal(
      'TableInUse',
      `table ${table} has a foreign route to ${route.to}`,
      coded('TableHasForeignRoute', { table, to: route.to }),
    )
  );
}

/** The kernel keeps IPv4 and IPv6 rules apart. */
function priorityTaken(nic: WantedNic, { host }: RefusalFacts): Refusal | undefined {
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
      coded('PriorityTaken', { priority: rule.priority, from: rule.from }),
    )
  );
}

/** Refuses a name held by another link, unless an accepted entry renames this link. Alternative names always block. */
function nameTaken(
  { link, desired: { name } }: WantedNic,
  { host, accepted }: RefusalFacts,
): Refusal | undefined {
  const holder = linkNamed(host, name);
  if (!holder || holder.index === link.index) return undefined;
  const leaving = accepted.some(
    (other) => other.link.index === holder.index && other.desired.name !== holder.name,
  );
  if (leaving && holder.name === name) return undefined;
  return refusal(
    'NICInUse',
    `the name ${name} is in use by the link with MAC ${holder.mac}`,
    coded('NameTaken', { name, mac: holder.mac }),
  );
}

/**
 * Allows a path holding a managed file about this NIC, an accepted NIC or a recorded NIC. Also allows a path recorded
 * for this NIC, even if a user's edit changed the MAC inside.
 */
function pathTaken({ paths, desired, record }: WantedNic, site: RefusalFacts): Refusal | undefined {
  const { host, accepted, records } = site;
  const ours = [desired, ...accepted.map((nic) => nic.desired), ...records].map(({ mac }) => mac);
  const written = record?.files.map(({ path }) => path) ?? [];
  const taken = host.files.find(
    ({ path, own }) =>
      paths.includes(path) && !(own && (ours.includes(own.mac) || written.includes(path))),
  );
  return (
    taken &&
    refusal(
      'PersistFailed',
      `${taken.path} is not managed by MultiNIC; move it away`,
      coded('FileUnmanaged', { path: taken.path }),
    )
  );
}

/**
 * Uses reason NICInUse, because a Service with external addresses can cause the clash. Only the node's own address is
 * an entry error.
 */
function addressTaken(nic: WantedNic, site: RefusalFacts): Refusal | undefined {
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
  return refusal(
    reason,
    `address ${clash.cidr} is already on ${clash.link}`,
    coded('AddressElsewhere', { address: clash.cidr, link: clash.link }),
  );
}

/** True if neighbours do not learn addresses from the link, such as kube-ipvs0. */
function isSilent(name: string, host: Snapshot): boolean {
  const link = linkNamed(host, name);
  return link !== undefined && (!link.up || link.noArp === true || link.kind === 'dummy');
}
