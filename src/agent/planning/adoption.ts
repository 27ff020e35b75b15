import { ipOf } from '../../api/address.ts';
import type { JobRequest } from '../../api/job.ts';
import { coded } from '../../api/nic-codes.ts';
import { type ConfigFile, isKernelMade, rt, type Snapshot } from '../snapshot.ts';
import { type AdoptedConfig, type NicRecord, sha256 } from '../state.ts';
import type { AdoptionRules } from './backend.ts';
import {
  type Claim,
  claimsOn,
  claimText,
  type NamedNic,
  namesOf,
  patternClaim,
  unreadClaim,
} from './claim.ts';
import { isLinkLocal } from './nic-state.ts';
import {
  type AdoptableNic,
  type AdoptionSite,
  type Against,
  explainedIn,
  type Foreign,
  firstObjection,
  fixedIn,
  laterObjections,
  type NicToAdopt,
  type Objection,
  objections,
  type RuledSite,
  type Subject,
} from './objections.ts';
import { isOwnRoute, routeKey, rulesFrom, type Takeover } from './ownership.ts';
import { type Refusal, refusal } from './refusals.ts';

/** A NIC's foreign configuration, and whether the agent could take the configuration over. */
export type Adoptable = { readonly takeover: Takeover; readonly isKnown: boolean } | Against;

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

function adoptableOn(nic: AdoptableNic, site: RuledSite): Adoptable | undefined {
  const claims = claimsOn(nic.named, site.host);
  const foreign = foreignOn(nic, site.host);
  const other = nic.record ? undefined : otherClaim(nic.named, site.host);
  if (claims.length === 0 && !other && isEmpty(foreign)) return undefined;
  const all = withParts(other ? [...claims, other] : claims, site.host);
  const subject: Subject = { ...nic, claims: all, foreign };
  const takeover = takeoverOf(subject, site.adoption);
  const isKnown = isAdopted(takeover, nic.record, nic.named);
  const against = firstObjection(isKnown ? laterObjections : objections, subject, site);
  return against ?? { takeover, isKnown };
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

/**
 * Returns ids for foreign definitions to end, also the NIC's new name: cloud-init may render the NIC again under that
 * name. Leaves the new name out if a definition for a different link has this id.
 */
export function endedIds(
  { link, record, desired: { mac, name } }: NicToAdopt,
  stanzas: readonly AdoptedConfig[],
  host: Snapshot,
): string[] {
  const named = { mac, names: namesOf(link, record, name, host) };
  const ours = new Set(claimsOn(named, host).map(({ stanza }) => stanza));
  const others = host.files.flatMap(({ own, stanzas: all = [] }) => (own ? [] : all));
  const isTaken = others.some((stanza) => stanza.id === name && !ours.has(stanza));
  const ids = stanzas.map(({ id }) => id);
  return [...new Set(isTaken ? ids : [...ids, name])];
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
