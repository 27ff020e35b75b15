import { basename } from 'node:path';
import { argsOf, argsText } from '../../api/args.ts';
import { matchesPattern } from '../shell-pattern.ts';
import { shorten } from '../shorten.ts';
import { type ConfigFile, type Link, linkNamed, type Snapshot, type Stanza } from '../snapshot.ts';
import type { AdoptedConfig, NicRecord } from '../state.ts';

/** Foreign file configuring a NIC at the next boot. */
export interface Claim {
  readonly file: ConfigFile;
  /** Absent if the file shows no stanza for the NIC. */
  readonly stanza?: Stanza | undefined;
  /** Set if the file configures every NIC with a matching name. */
  readonly pattern?: string;
  /** Set for a pattern with DHCP. */
  readonly isLease?: boolean;
}

/** MAC and names by which files may refer to a NIC. */
export interface NamedNic {
  readonly mac: string;
  readonly names: readonly string[];
  /** Stanzas taken over with the NIC: they configure the NIC no longer. */
  readonly adopted?: readonly Pick<AdoptedConfig, 'path' | 'id'>[] | undefined;
}

/**
 * Returns the NIC's current, former and desired names: a file may exist for a name the NIC gets later. A former name now
 * used by another link is left out.
 */
export function namesOf(
  link: Link | undefined,
  record: NicRecord | undefined,
  desired: string,
  host: Snapshot,
): string[] {
  const former = record?.originalName ?? '';
  const isOthers = link !== undefined && (linkNamed(host, former) ?? link).index !== link.index;
  const current = link ? [link.name, ...link.altNames] : [];
  return [...current, isOthers ? '' : former, desired].filter((name) => name !== '');
}

/** Returns the first foreign file configuring the NIC by MAC or name; undefined if all are adopted. */
export function claimOn(nic: NamedNic, host: Pick<Snapshot, 'files'>): Claim | undefined {
  return claimsOn(nic, host)[0];
}

/** Returns all stanzas in foreign files configuring the NIC by MAC or name, except adopted stanzas. */
export function claimsOn(nic: NamedNic, { files }: Pick<Snapshot, 'files'>): Claim[] {
  return files
    .filter((each) => !each.own && (each.macs.includes(nic.mac) || mentions(each, nic.names)))
    .flatMap((file) => {
      const stanzas = stanzasIn(file, nic);
      const all: Claim[] =
        stanzas.length > 0 ? stanzas.map((stanza) => ({ file, stanza })) : [{ file }];
      return all.filter((claim) => !isAdoptedClaim(claim, nic));
    });
}

function isAdoptedClaim({ file: { path }, stanza }: Claim, { adopted = [] }: NamedNic): boolean {
  return adopted.some((each) => each.path === path && each.id === stanza?.id);
}

/** Returns the foreign file configuring every NIC with a name like this NIC's. */
export function patternClaim(nic: NamedNic, { files }: Pick<Snapshot, 'files'>): Claim | undefined {
  for (const file of files.filter((each) => !leavesOut(each, nic))) {
    const { leases = [], patterns = [] } = file;
    const names = namesFor(file, nic.names);
    const lease = leases.find((each) => matchesAny(names, each));
    const pattern = lease ?? patterns.find((each) => matchesAny(names, each));
    if (pattern === undefined) continue;
    return { file, stanza: stanzaIn(file, nic), pattern, isLease: lease !== undefined };
  }
  return undefined;
}

/**
 * Returns the foreign file with the NIC's addresses, by MAC, name or pattern. Patterns do not count for a managed NIC: our
 * file precedes such a file. A `.link` file only names the NIC.
 */
export function addressClaim(
  nic: NamedNic,
  isManaged: boolean,
  { files }: Pick<Snapshot, 'files'>,
): Claim | undefined {
  const host = { files: files.filter(({ path }) => !path.endsWith('.link')) };
  return claimOn(nic, host) ?? (isManaged ? undefined : patternClaim(nic, host));
}

function leavesOut({ except = [] }: ConfigFile, { mac, names }: NamedNic): boolean {
  return except.some((item) => item === mac || matchesAny(names, item));
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

/** Returns an unreadable file as a claim: the file may configure every NIC. */
export function unreadClaim({ files }: Pick<Snapshot, 'files'>): Claim | undefined {
  const file = files.find(({ unread }) => unread !== undefined);
  return file && { file, stanza: unreadStanza(file) };
}

function unreadStanza({ unread }: ConfigFile): Stanza {
  return { section: `(cannot be read: ${unread})` };
}

function stanzaIn(file: ConfigFile, nic: NamedNic): Stanza | undefined {
  return stanzasIn(file, nic)[0];
}

function stanzasIn(file: ConfigFile, { mac, names }: NamedNic): readonly Stanza[] {
  if (file.unread !== undefined) return [unreadStanza(file)];
  const isAbout = ({ nics }: Stanza) =>
    !nics || nics.macs.includes(mac) || nics.names.some((pattern) => matchesAny(names, pattern));
  return file.stanzas?.filter(isAbout) ?? [];
}

/** A message has room for 120 bytes, and the reason follows the file. */
const maxTextBytes = 90;

/** Returns file and stanza as text; a long path loses the folder to make room for the stanza. */
export function claimText({ file: { path }, stanza }: Claim): string {
  const section = stanza ? ` ${shorten(stanza.section, 64)}` : '';
  const text = `${path}${section}`;
  if (Buffer.byteLength(text) <= maxTextBytes) return text;
  const room = Math.max(maxTextBytes - Buffer.byteLength(section), 24);
  return `${shorten(`…/${basename(path)}`, room)}${section}`;
}

/**
 * Returns file and stanza as values for `args`, beside earlier values: a long path loses the folder. Without room for
 * both, only the preferred value stays.
 */
export function claimValues(
  { file: { path }, stanza }: Claim,
  others: Readonly<Record<string, string>>,
  preferred: 'path' | 'section',
): Readonly<Record<string, string>> {
  const name = basename(path);
  const section = stanza && { section: stanza.section };
  const both = section ? [path, name].map((each) => ({ path: each, ...section })) : [];
  const one = [...(preferred === 'section' && section ? [section] : []), { path }, { path: name }];
  const choices = [...both, ...one].map((values) => ({ ...others, ...values }));
  return choices.find(isComplete) ?? others;
}

/** `args` have room for 60 bytes. */
function isComplete(values: Readonly<Record<string, string>>): boolean {
  const present = argsOf(argsText(values));
  return Object.keys(values).every((key) => Object.hasOwn(present, key));
}
