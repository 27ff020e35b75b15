import { basename } from 'node:path';
import { ipOf } from '../../api/address.ts';
import type { Adoption } from '../../api/found-configuration.ts';
import type { JobRequest } from '../../api/job.ts';
import { coded } from '../../api/nic-codes.ts';
import { isPattern } from '../shell-pattern.ts';
import {
  type Address,
  type ConfigFile,
  type FixedConfig,
  isKernelMade,
  type ManagedLink,
  type Route,
  rt,
  type Snapshot,
  type Stanza,
  upperLinks,
} from '../snapshot.ts';
import { type AdoptedConfig, type NicRecord, sha256 } from '../state.ts';
import type { AdoptionRules, Backend } from './backend.ts';
import {
  type Claim,
  claimsOn,
  claimText,
  type NamedNic,
  namesOf,
  patternClaim,
  unreadClaim,
} from './claim.ts';
import type { DesiredNic } from './desired.ts';
import { isLinkLocal } from './nic-state.ts';
import { isOwnRoute, routeKey, rulesFrom, type Takeover } from './ownership.ts';
import {
  isNeeded,
  leasing,
  type Refusal,
  type RefusalFacts,
  refusal,
  type WantedNic,
} from './refusals.ts';

/** Reason against an adoption. */
type Objection = Exclude<Adoption, 'Now' | 'AtBoot'>;

/** A NIC's foreign configuration, and whether the agent could take the configuration over. */
export type Adoptable =
  | { readonly takeover: Takeover; readonly isKnown: boolean }
  | { readonly objection: Objection; readonly claim?: Claim; readonly item?: string };

interface AdoptableNic extends NicToAdopt {
  readonly named: NamedNic;
}

/** NIC with foreign configuration, wanted or only checked. */
export interface NicToAdopt extends Pick<WantedNic, 'link' | 'owned' | 'belongings' | 'record'> {
  readonly desired: Pick<DesiredNic, 'mac' | 'name' | 'index'>;
}

/** Surroundings for the decision. */
interface AdoptionSite extends Pick<RefusalFacts, 'host' | 'protectedAddresses'> {
  readonly backend: Pick<Backend, 'adoption'>;
}

/**
 * Returns whether the NIC's foreign configuration could be taken over, with or without consent; undefined without foreign
 * configuration, or if the agent cannot take over files of this network manager.
 */
export function adoptableNic(nic: NicToAdopt, site: AdoptionSite): Adoptable | undefined {
  const { adoption } = site.backend;
  const { link, record, desired } = nic;
  const named = { mac: desired.mac, names: namesOf(link, record, desired.name, site.host) };
  return adoption && adoptableOn({ ...nic, named }, { ...site, adoption });
}

interface RuledSite extends AdoptionSite {
  readonly adoption: AdoptionRules;
}

function adoptableOn(nic: AdoptableNic, site: RuledSite): Adoptable | undefined {
  const claims = claimsOn(nic.named, site.host);
  const foreign = foreignOn(nic, site.host);
  const other = nic.record ? undefined : otherClaim(nic.named, site.host);
  if (claims.length === 0 && !other && isEmpty(foreign)) return undefined;
  const all = withParts(other ? [...claims, other] : claims, site.host);
  const subject: Subject = { ...nic, claims: all, foreign };
  const takeover = takeoverOf(subject, site.adoption);
  const isKnown = isAdopted(takeover, nic.record, nic.named);
  const against = firstObjection(isKnown ? fileObjections : objections, subject, site);
  return against ?? { takeover, isKnown };
}

function firstObjection(
  checks: readonly Objecting[],
  nic: Subject,
  site: RuledSite,
): Extract<Adoptable, { objection: Objection }> | undefined {
  for (const [objection, evidence] of checks) {
    const found = evidence(nic, site);
    if (found === false) continue;
    if (typeof found === 'string') return { objection, item: found };
    return { objection, ...(found === true ? {} : { claim: found }) };
  }
  return undefined;
}

/** Adds files extending claiming files, such as an ifcfg file's routes. */
function withParts(claims: readonly Claim[], { files }: Snapshot): Claim[] {
  const paths = claims.map(({ file }) => file.path);
  const parts = files.filter(({ own, partOf = '' }) => !own && paths.includes(partOf));
  return [...claims, ...parts.map((file) => ({ file, stanza: file.stanzas?.[0] }))];
}

function otherClaim(named: NamedNic, host: Snapshot): Claim | undefined {
  return patternClaim(named, host) ?? unreadClaim(host);
}

/** Foreign kernel state on a NIC. */
interface Foreign {
  readonly addresses: readonly Address[];
  readonly routes: readonly Route[];
}

interface Subject extends AdoptableNic {
  readonly claims: readonly Claim[];
  readonly foreign: Foreign;
}

/** Returns the claim, kernel state, or true, as evidence for an objection; false: none. */
type Evidence = (nic: Subject, site: RuledSite) => Claim | string | boolean;

type Objecting = readonly [Objection, Evidence];

/** Objections because of the link, only before an adoption: afterwards any change must be permitted as on every NIC. */
const linkObjections: readonly Objecting[] = [
  ['NodeLink', ({ link }, site) => isNeeded(link, site)],
  ['NotFromFile', unexplainedOn],
  ['OnlyNameServers', isOnlyResolver],
];

/** Objections because of files. */
const fileObjections: readonly Objecting[] = [
  ['LinkInUse', isInUse],
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

const objections = [...fileObjections, ...linkObjections];

function isInUse({ link, claims }: Subject, { host }: AdoptionSite): Claim | boolean {
  if (link.master !== undefined || upperLinks(host, link.name).length > 0) return true;
  const members = new Set(host.files.flatMap(({ members: ids = [] }) => ids));
  const isBelow = ({ id = '', section }: Stanza) =>
    members.has(id) || /^(bonds|bridges|vlans)\./.test(section);
  return claims.find(({ stanza }) => stanza && isBelow(stanza)) ?? false;
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

function explainedIn(claims: readonly Claim[], foreign: Foreign): Foreign {
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
 * True if the NIC gives the node its only name servers. NetworkManager does not show a lease's name servers: on every link
 * a lease counts as a source.
 */
function isOnlyResolver({ claims, link }: Subject, { host }: AdoptionSite): Claim | boolean {
  const { managedLinks = new Map<number, ManagedLink>() } = host;
  const managed = managedLinks.get(link.index);
  const hasServers = ({ nameServers, dhcp }: Stanza) =>
    nameServers !== undefined || (managed?.profile !== undefined && dhcp === true);
  const given = claims.find(({ stanza }) => stanza && hasServers(stanza));
  if (!given && !managed?.nameServers.length) return false;
  const ours = new Set(claims.map(({ stanza }) => stanza));
  const others = host.files.flatMap((file) => file.stanzas ?? []);
  const isElsewhere =
    [...managedLinks].some(([index, on]) => index !== link.index && on.nameServers.length > 0) ||
    others.some((stanza) => !ours.has(stanza) && hasServers(stanza));
  return isElsewhere ? false : (given ?? true);
}

function takeoverOf(nic: Subject, { edit }: AdoptionRules): Takeover {
  const { claims } = nic;
  const foreign = explainedIn(claims, nic.foreign);
  const fixed = fixedIn(claims);
  const ruled = fixed.rules.flatMap(({ from, table }) => rulesFrom([table], [ipOf(from)]));
  return {
    adopted: claims.flatMap(({ file, stanza }) =>
      stanza?.id === undefined ? [] : [adoptedConfig(file, stanza.id, edit)],
    ),
    edits: edit
      ? claims.flatMap(({ file }) => {
          const text = edit.apply(file);
          return text === file.text ? [] : [{ file, text }];
        })
      : [],
    owned: {
      tables: [],
      ips: [...new Set([...foreign.addresses.map(({ cidr }) => cidr), ...fixed.addresses])].map(
        ipOf,
      ),
      routes: [...new Set(foreign.routes.map(routeKey))],
      rules: [...new Set(ruled)],
    },
  };
}

/** Returns a stanza's record; the digest is of the unedited file. */
function adoptedConfig(file: ConfigFile, id: string, edit: AdoptionRules['edit']): AdoptedConfig {
  const { path, mode, owner = '0:0' } = file;
  const original = edit?.undo(file) ?? file.text;
  const lines = edit ? edit.lines(edit.apply(file)) : [];
  return {
    path,
    id,
    sha256: sha256(original),
    mode,
    ...(lines.length > 0 ? { owner, lines } : {}),
  };
}

function fixedIn(claims: readonly Claim[]): FixedConfig {
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

/** Returns addresses and routes on the link that the NIC does not own; requested addresses are never foreign. */
function foreignOn(
  { link, owned, belongings }: AdoptableNic,
  { addresses, routes }: Snapshot,
): Foreign {
  return {
    addresses: addresses.filter(
      (address) =>
        address.link === link.name &&
        !isLinkLocal(address) &&
        (address.temporary === true || !belongings.ips.includes(ipOf(address.cidr))) &&
        !(owned.ips.includes(ipOf(address.cidr)) && !address.opaque),
    ),
    routes: routes.filter(
      (route) =>
        (route.anyLink === true || route.links.includes(link.name)) &&
        route.table !== rt.localTable &&
        !isKernelMade(route) &&
        !isOwnRoute(route, owned),
    ),
  };
}

function isEmpty({ addresses, routes }: Foreign): boolean {
  return addresses.length + routes.length === 0;
}

/** True if the record covers these stanzas: consent was given, also for a new rendering under another NIC name. */
function isAdopted(
  { adopted }: Takeover,
  record: NicRecord | undefined,
  { names }: NamedNic,
): boolean {
  const key = ({ path, id }: Pick<AdoptedConfig, 'path' | 'id'>) =>
    `${withoutName(path, names)} ${withoutName(id, names)}`;
  const known = new Set(record?.adopted?.map(key));
  return adopted.length > 0 && adopted.every((each) => known.has(key(each)));
}

/** Alternative names may have any characters, and contain shorter names. */
function withoutName(text: string, names: readonly string[]): string {
  const longestFirst = names.toSorted((a, b) => b.length - a.length);
  return longestFirst.reduce((rest, name) => rest.replaceAll(name, '*'), text);
}

/** Causes in messages. */
const causes: Readonly<Record<Objection, string>> = {
  NodeLink: 'the node needs this link',
  OtherLinksToo: 'it also configures other links',
  FileWins: 'it wins over the file of MultiNIC',
  CannotParse: 'it cannot be parsed',
  OnlyNameServers: 'no other link has name servers',
  LinkInUse: 'a bond, bridge or VLAN uses the link',
  TurnedOff: 'it keeps the link down',
  NotFromFile: 'no file sets',
};

/** Adds why consent does not help to the refusal of a NIC with foreign configuration. */
export function withAdoption(
  refused: Refusal | undefined,
  adoptable: Adoptable | undefined,
  { existingConfiguration }: Pick<JobRequest, 'existingConfiguration'>,
): Refusal | undefined {
  const isWanted = existingConfiguration === 'Adopt' && adoptable && 'objection' in adoptable;
  // The refusal itself tells why the node needs the link.
  if (!refused || !isWanted || adoptable.objection === 'NodeLink') return refused;
  const { objection, claim, item } = adoptable;
  const { where, values } = claim ? placeOf(claim) : { where: '', values: item ? { item } : {} };
  const message = `${where}cannot be adopted, ${causes[objection]}${item ? ` ${item}` : ''}`;
  return refusal(
    refused.reason,
    message,
    coded('AdoptionRefused', { cause: objection, ...values }),
  );
}

function placeOf(claim: Claim) {
  const { file, stanza: { line } = {} } = claim;
  const at = line === undefined ? '' : ` line ${line}`;
  const values = { ...(line === undefined ? {} : { line }), path: file.path };
  return { where: `${claimText(claim)}${at}: `, values };
}
