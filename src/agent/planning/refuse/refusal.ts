import type { NicReason } from '../../../api/job.ts';
import type { Address, Host, Link, Route } from '../../host.ts';
import { rt } from '../../host.ts';
import type { NicRecord } from '../../state.ts';
import type { DesiredNic } from '../desired.ts';
import { ipOf } from '../ipv4.ts';
import type { Belongings } from '../ownership.ts';

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
  /** Path of the file that will hold its addresses. */
  readonly path: string;
}

/** What a NIC is among. */
export interface Site {
  readonly host: Host;
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

export function isDefault({ to, type }: Route): boolean {
  return to.endsWith('/0') && type === rt.unicast;
}

/** Whether the route leaves by the link, as far as anybody knows. */
export function mayLeaveBy({ links, anyLink }: Route, { name }: Link): boolean {
  return anyLink === true || links.includes(name);
}

/** The address in the one form that all its spellings share: the kernel and Kubernetes shorten IPv6 in their own ways. */
export function plainIp({ cidr }: Pick<Address, 'cidr'>): string {
  const ip = ipOf(cidr);
  return ip.includes(':') ? new URL(`http://[${ip}]`).hostname.slice(1, -1) : ip;
}

/** Whether the link has an address of the Node object. */
export function nodeAddressOf(link: Link, { host, protectedAddresses }: Site): string | undefined {
  const nodes = new Set(protectedAddresses.map((ip) => plainIp({ cidr: ip })));
  const address = host.addresses.find(
    (item) => item.link === link.name && nodes.has(plainIp(item)),
  );
  return address && plainIp(address);
}
