import { interfaceName } from '../api/names.ts';
import { ownLinks } from './own-link.ts';
import type { KernelSnapshot, Link, Snapshot } from './snapshot.ts';
import type { NicRecord } from './state.ts';

/** Host links with the same MAC: a single link is the NIC; with twins the NIC is unknown. */
export type NicLinks =
  | { readonly count: 'none'; readonly links: readonly [] }
  | { readonly count: 'one'; readonly link: Link; readonly links: readonly [Link] }
  | { readonly count: 'twins'; readonly links: readonly [Link, Link, ...Link[]] };

/** Finds the NIC with this MAC; the only function deciding which link a MAC names. */
export function nicOf(host: Pick<Snapshot, 'links'>, mac: string): NicLinks {
  const [link, twin, ...more] = host.links.filter((each) => each.mac === mac && isNic(each));
  if (!link) return { count: 'none', links: [] };
  if (!twin) return { count: 'one', link, links: [link] };
  return { count: 'twins', links: [link, twin, ...more] };
}

/**
 * True for a link without a driver kind, or for a container node's veth. Every other kind (bridge, bond, tun,
 * openvswitch, vlan, macvlan, dummy …) may get a NIC's MAC, with members or without, and never is the NIC.
 */
function isNic({ kind, isPair }: Link): boolean {
  return kind === undefined || (kind === 'veth' && isPair !== true);
}

/** What identifies NICs beside the MACs of links. */
export interface KnownNics {
  readonly records: readonly NicRecord[];
  readonly bootId: string;
  /** Node object addresses. */
  readonly protectedAddresses: readonly string[];
}

/**
 * Returns the links with their NICs' MACs. A NIC is the link with this permanent MAC. Without one, the NIC is the link
 * sending with the MAC, or the link set up for the record in this boot. Such a link has no known NIC's MAC. Veths are
 * NICs only on nodes whose own link is a veth.
 */
export function identified(
  host: Pick<KernelSnapshot, 'links' | 'addresses' | 'routes'>,
  macs: ReadonlySet<string>,
  { records, bootId, protectedAddresses }: KnownNics,
): Link[] {
  const hasVeths = host.links.some(({ kind }) => kind === 'veth');
  const isOnVeth =
    hasVeths && ownLinks(host, protectedAddresses).some(({ kind }) => kind === 'veth');
  const known = host.links.map((link): Link => {
    const pair = link.kind === 'veth' && !isOnVeth ? { isPair: true as const } : {};
    return { ...named(link, macs), ...pair };
  });
  const found = new Set(known.filter(isNic).map(({ mac }) => mac));
  return known.map((link) => {
    const record = records.find((each) => isSetUpAs(link, each, bootId));
    const isTaken = macs.has(link.mac);
    if (!record || isTaken || !isNic(link) || found.has(record.mac)) return link;
    return { ...link, mac: record.mac, sendsAs: link.sendsAs ?? link.mac };
  });
}

/**
 * True if the agent set up this link for the record in this boot. The index alone is no proof: after a restart a
 * container node has the same boot id, and its kernel counts links from 1.
 */
function isSetUpAs({ name, index }: Link, record: NicRecord, bootId: string): boolean {
  const { boot } = record;
  return boot?.bootId === bootId && boot.setUp === index && name === interfaceName(record.index);
}

/** A link sending with a port's MAC is this port's NIC, whatever the permanent MAC; a bond sets its ports' MACs. */
function named(link: Link, macs: ReadonlySet<string>): Link {
  const { sendsAs, ...rest } = link;
  const isPort = sendsAs !== undefined && macs.has(sendsAs) && !macs.has(link.mac);
  return isPort && link.master === undefined ? { ...rest, mac: sendsAs } : link;
}

/** Returns the only link with this MAC; undefined without a link, or with twins. */
export function linkOf(host: Pick<Snapshot, 'links'>, mac: string): Link | undefined {
  const found = nicOf(host, mac);
  return found.count === 'one' ? found.link : undefined;
}

/** Returns a message about links sharing a MAC. */
export function twinsText([first, second]: readonly Link[], mac: string): string {
  return `links ${first?.name} and ${second?.name} have the same MAC ${mac}`;
}
