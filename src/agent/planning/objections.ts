import { basename } from 'node:path';
import { ipOf } from '../../api/address.ts';
import type { Adoption } from '../../api/found-configuration.ts';
import type { RequestInterface } from '../../api/job.ts';
import { linkOf } from '../identity.ts';
import { isDefault } from '../own-link.ts';
import { isPattern } from '../shell-pattern.ts';
import {
  type Address,
  type FixedConfig,
  type Link,
  type ManagedLink,
  type Route,
  rt,
  type Snapshot,
  type Stanza,
  upperLinks,
} from '../snapshot.ts';
import type { AdoptionRules, Backend } from './backend.ts';
import { type Claim, claimsOn, type NamedNic, namesOf } from './claim.ts';
import type { DesiredNic } from './desired.ts';
import { isNeeded, leasing, type RefusalFacts, type WantedNic } from './refusals.ts';

/** Reason against an adoption. */
export type Objection = Exclude<Adoption, 'Now' | 'AtBoot'>;

/** An objection with evidence: the claiming stanza, or an address or route. */
export interface Against {
  readonly objection: Objection;
  readonly claim?: Claim;
  readonly item?: string;
}

export interface AdoptableNic extends NicToAdopt {
  readonly named: NamedNic;
}

/** NIC with foreign configuration, wanted or only checked. */
export interface NicToAdopt extends Pick<WantedNic, 'link' | 'owned' | 'belongings' | 'record'> {
  readonly desired: Pick<DesiredNic, 'mac' | 'name' | 'index'>;
}

/** Surroundings for the decision. */
export interface AdoptionSite
  extends Pick<RefusalFacts, 'host' | 'protectedAddresses' | 'records'> {
  readonly backend: Pick<Backend, 'adoption'>;
  /** NICs in the request. */
  readonly requested: readonly Pick<RequestInterface, 'mac'>[];
}

export interface RuledSite extends AdoptionSite {
  readonly adoption: AdoptionRules;
}

/** Foreign kernel state on a NIC. */
export interface Foreign {
  readonly addresses: readonly Address[];
  readonly routes: readonly Route[];
}

export interface Subject extends AdoptableNic {
  readonly claims: readonly Claim[];
  readonly foreign: Foreign;
}

/** Returns the claim, kernel state, or true, as evidence for an objection; false: none. */
type Evidence = (nic: Subject, site: RuledSite) => Claim | string | boolean;

type Objecting = readonly [Objection, Evidence];

/** Objections because of files. */
const fileObjections: readonly Objecting[] = [
  ['LinkInUse', (nic, { host }) => nic.claims.find((claim) => isForUpper(claim, host)) ?? false],
  ['CannotParse', (nic) => nic.claims.find(isUnread) ?? false],
  [
    'OtherLinksToo',
    (nic, site) => nic.claims.find((claim) => isForOthers(claim, nic, site)) ?? false,
  ],
  ['TurnedOff', (nic) => nic.claims.find(({ stanza }) => stanza?.off !== undefined) ?? false],
  [
    'FileWins',
    (nic, { adoption }) => nic.claims.find((claim) => wins(claim, nic, adoption)) ?? false,
  ],
];

/** Objections before an adoption. */
export const objections: readonly Objecting[] = [
  ['LinkInUse', ({ link }, { host }) => isLower(link, host)],
  ...fileObjections,
  ['NodeLink', ({ link }, site) => isNeeded(link, site)],
  ['NotFromFile', unexplainedOn],
  ['OnlyNameServers', isOnlyResolver],
];

/**
 * Objections after an adoption, when any change must be permitted as on every NIC. The takeover permits foreign default
 * routes, so the node's need for such a route counts here.
 */
export const laterObjections: readonly Objecting[] = [
  ...fileObjections,
  ['NodeLink', ({ link, foreign }, site) => foreign.routes.some(isDefault) && isNeeded(link, site)],
];

function isLower({ name, master }: Link, host: Snapshot): boolean {
  return master !== undefined || upperLinks(host, name).length > 0;
}

/** True if the stanza, or another file, uses the NIC in a bond, bridge or VLAN. */
function isForUpper({ stanza }: Claim, { files }: Snapshot): boolean {
  const members = files.flatMap(({ members: ids = [] }) => ids);
  return stanza !== undefined && (stanza.upper === true || members.includes(stanza.id ?? ''));
}

function isUnread({ file, stanza }: Claim): boolean {
  return file.unread !== undefined || stanza === undefined || stanza.id === undefined;
}

/** True if the stanza is also about other links, itself or merged with a stanza of the same id elsewhere. */
function isForOthers(claim: Claim, { named, claims }: Subject, { host }: AdoptionSite): boolean {
  if (!isForNicOnly(claim, named)) return true;
  const ours = new Set(claims.map(({ stanza }) => stanza));
  return host.files
    .filter(({ own }) => !own)
    .flatMap(({ stanzas = [] }) => stanzas)
    .some((stanza) => stanza.id === claim.stanza?.id && !ours.has(stanza));
}

/** True if the stanza names this NIC alone, by MAC or by name. */
function isForNicOnly({ file, stanza, pattern }: Claim, { mac, names }: NamedNic): boolean {
  if (pattern !== undefined) return false;
  const nics = stanza?.nics ?? { macs: file.macs, names: file.names ?? [] };
  if (nics.macs.length > 0) return nics.macs.every((each) => each === mac);
  return nics.names.every((name) => names.includes(name) && !isPattern(name));
}

function wins({ file }: Claim, { desired: { index } }: Subject, rules: AdoptionRules): boolean {
  return rules.precedes(file, basename(rules.path(index)));
}

/** Returns a foreign address or route from neither a lease nor a stanza; false: none. */
function unexplainedOn({ claims, foreign }: Subject): string | boolean {
  const { addresses, routes } = explainedIn(claims, foreign);
  const address = foreign.addresses.find((each) => !addresses.includes(each));
  const route = foreign.routes.find((each) => !routes.includes(each));
  return address?.cidr ?? route?.to ?? false;
}

export function explainedIn(claims: readonly Claim[], foreign: Foreign): Foreign {
  const leases = claims.some(({ stanza }) => stanza?.dhcp === true);
  const fixed = fixedIn(claims);
  const ips = new Set(fixed.addresses.map(ipOf));
  const hops = new Set(fixed.routes.map(hopOf));
  return {
    addresses: foreign.addresses.filter(
      ({ cidr, temporary, opaque }) => (leases && temporary) || (!opaque && ips.has(ipOf(cidr))),
    ),
    routes: foreign.routes.filter(
      (route) =>
        route.anyLink !== true &&
        route.type === rt.unicast &&
        ((leases && leasing.has(route.protocol)) || hops.has(hopOf(route))),
    ),
  };
}

/**
 * True if the NIC gives the node its only name servers. Managed and requested NICs are no other source: all may lose
 * their name servers. NetworkManager does not show a lease's name servers: on every link a lease counts as a source.
 */
function isOnlyResolver({ claims, link }: Subject, site: AdoptionSite): Claim | boolean {
  const { host } = site;
  const { managedLinks = new Map<number, ManagedLink>() } = host;
  const managed = managedLinks.get(link.index);
  const hasServers = ({ nameServers, dhcp }: Stanza) =>
    nameServers !== undefined || (managed?.profile !== undefined && dhcp === true);
  const given = claims.find(({ stanza }) => stanza && hasServers(stanza));
  if (!given && !managed?.nameServers.length) return false;
  const { indexes, stanzas } = adoptableAmong(site);
  const others = host.files.flatMap(({ own, stanzas: all = [] }) => (own ? [] : all));
  const isElsewhere =
    [...managedLinks].some(([index, on]) => !indexes.has(index) && on.nameServers.length > 0) ||
    others.some((stanza) => !stanzas.has(stanza) && hasServers(stanza));
  return isElsewhere ? false : (given ?? true);
}

/** Returns links and stanzas for all managed and requested NICs. */
function adoptableAmong({ host, records, requested }: AdoptionSite) {
  const macs = [...new Set([...records, ...requested].map(({ mac }) => mac))];
  const nics = macs.map((mac) => ({ mac, link: linkOf(host, mac) }));
  const claims = nics.flatMap(({ mac, link }) => {
    const record = records.find((each) => each.mac === mac);
    return claimsOn({ mac, names: namesOf(link, record, '', host) }, host);
  });
  return {
    indexes: new Set(nics.flatMap(({ link }) => link?.index ?? [])),
    stanzas: new Set(claims.map(({ stanza }) => stanza)),
  };
}

/** Returns the first objection; undefined: none. */
export function firstObjection(
  checks: readonly Objecting[],
  nic: Subject,
  site: RuledSite,
): Against | undefined {
  for (const [objection, evidence] of checks) {
    const found = evidence(nic, site);
    if (found === false) continue;
    if (typeof found === 'string') return { objection, item: found };
    return { objection, ...(found === true ? {} : { claim: found }) };
  }
  return undefined;
}

export function fixedIn(claims: readonly Claim[]): FixedConfig {
  const all = claims.flatMap(({ stanza }) => stanza?.fixed ?? []);
  return {
    addresses: all.flatMap(({ addresses }) => addresses),
    routes: all.flatMap(({ routes }) => routes),
    rules: all.flatMap(({ rules }) => rules),
  };
}

function hopOf({ to, via = '', table }: Pick<Route, 'to' | 'via' | 'table'>): string {
  return `${to} via ${via} table ${table}`;
}
