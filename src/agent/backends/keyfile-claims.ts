import { basename } from 'node:path';
import { indexOfName, interfaceName, maxIndex } from '../../api/names.ts';
import { isPattern } from '../shell-pattern.ts';
import {
  type Claims,
  type ConfigFile,
  type HostFile,
  malformed,
  nameServersIn,
  type OwnFile,
  type Stanza,
} from '../snapshot.ts';
import { type IniLine, readIni, valueIn } from './ini-text.ts';
import { fixedIn } from './keyfile-fixed.ts';
import { type NamePatterns, namePatterns } from './name-patterns.ts';
import { profileUuid } from './profile.ts';

/** File names used by this agent and predecessors; the two numbers in an old name may differ. */
const ownName = /^\/etc\/NetworkManager\/system-connections\/9\d*-(multinic\d+)\.nmconnection$/;
/** Profiles for this boot only: made by NetworkManager, by the initramfs, or by users without persistence. */
const volatilePlace = /^\/run\//;
const macKeys = ['mac-address', 'cloned-mac-address'];
/** The second name was used before version 1.48. */
const leftOutKeys = ['mac-address-denylist', 'mac-address-blacklist'];
const ethernet = new Set(['ethernet', '802-3-ethernet']);

/** Parses a NetworkManager profile: which NICs it configures, and whether it is managed. */
export function readProfile(file: HostFile): ConfigFile {
  const lines = readIni(file.text);
  if (!lines) return { ...file, ...mentionedIn(file.text) };
  const own = ownProfile(file.path, lines);
  if (own && !ownName.test(file.path)) {
    if (hasOwnUuid(lines, own)) return { ...file, own: { ...own, renamed: true }, macs: [own.mac] };
  } else if (own) return { ...file, own, macs: [own.mac] };
  const stanza = { ...stanzaOf(lines), id: basename(file.path) };
  return { ...file, ...claimsOf(lines, volatilePlace.test(file.path)), stanzas: [stanza] };
}

/** Returns the profile's id, with the method for the NIC's addresses. */
function stanzaOf(lines: readonly IniLine[]): Stanza {
  const id = valueIn(lines, 'connection', 'id') ?? valueIn(lines, 'connection', 'uuid') ?? '';
  const servers = lines.filter(({ section, key }) => /^ipv[46]$/.test(section) && key === 'dns');
  const nameServers = nameServersIn(servers.flatMap(({ value }) => value.split(/[;,\s]+/)));
  if (!isEthernet(lines)) return { section: id, upper: true, ...nameServers };
  const four = valueIn(lines, 'ipv4', 'method') ?? 'auto';
  const six = valueIn(lines, 'ipv6', 'method') ?? 'ignore';
  const isSix = /^(disabled|link-local)$/.test(four) && six !== 'ignore';
  const option = `${isSix ? 'ipv6' : 'ipv4'}.method`;
  return {
    section: id ? `${id} (${option})` : option,
    dhcp: four === 'auto' || /^(auto|dhcp)$/.test(six),
    ...nameServers,
    ...fixedIn(lines),
    ...priorityIn(lines),
    ...upperIn(lines),
  };
}

/** Keys making the NIC a port in a bond, bridge or team; the first two were used before version 1.46. */
const portKeys = ['master', 'slave-type', 'controller', 'port-type'];

function upperIn(lines: readonly IniLine[]): Pick<Stanza, 'upper'> {
  return portKeys.some((key) => valueIn(lines, 'connection', key)) ? { upper: true } : {};
}

/** NetworkManager's default is 0. */
function priorityIn(lines: readonly IniLine[]): Pick<Stanza, 'priority'> {
  if (isOnRequestOnly(lines)) return {};
  return { priority: Number(valueIn(lines, 'connection', 'autoconnect-priority')) || 0 };
}

/**
 * True for a profile of ours under another file name: `nmcli connection migrate` keeps the uuid of an ifcfg file, and
 * names the keyfile after the profile.
 */
function hasOwnUuid(lines: readonly IniLine[], { mac, index }: OwnFile): boolean {
  return valueIn(lines, 'connection', 'uuid') === profileUuid({ mac, name: interfaceName(index) });
}

/** Recognises every generation: a single MAC and a managed name. An adopted NIC's profile has the name in `id`. */
function ownProfile(path: string, lines: readonly IniLine[]): OwnFile | undefined {
  const type = valueIn(lines, 'connection', 'type') ?? '';
  const [, adopted = ''] = ownName.exec(path) ?? [];
  const index = indexOfName(valueIn(lines, 'connection', 'interface-name') ?? adopted);
  const [mac] = macsIn(lines, ['mac-address']);
  if (!ethernet.has(type) || index === undefined || index > maxIndex || !mac) return undefined;
  const addresses = lines
    .filter(({ section, key }) => /^ipv[46]$/.test(section) && /^address(es)?\d*$/.test(key))
    .map(({ value }) => value.replace(/[,;].*$/, ''));
  return { mac, index, addresses };
}

/**
 * Returns the NICs a foreign profile configures. A profile NetworkManager generated to mirror a foreign or agent
 * configuration configures none; version 1.30 drops the mark once the device changes. Takes only names and MACs,
 * because a profile may hold secrets.
 */
function claimsOf(lines: readonly IniLine[], volatile: boolean): Claims {
  const onRequestOnly = isOnRequestOnly(lines);
  if (valueIn(lines, '.nmmeta', 'external') === 'true' || (volatile && onRequestOnly))
    return { macs: [] };
  if (isEthernet(lines)) return claimsOfEthernet(lines, volatile);
  const names = lines
    .filter(
      ({ section, key }) =>
        key === 'parent' || (section === 'connection' && key === 'interface-name'),
    )
    .map(({ value }) => value);
  return { macs: macsIn(lines, macKeys), names };
}

/** True if the profile is activated only on request. */
function isOnRequestOnly(lines: readonly IniLine[]): boolean {
  return /^(false|0)$/.test(valueIn(lines, 'connection', 'autoconnect') ?? '');
}

/** A profile without a type has the type of its settings (nm_connection_normalize). */
function isEthernet(lines: readonly IniLine[]): boolean {
  const type = valueIn(lines, 'connection', 'type');
  return type === undefined
    ? lines.some(({ section }) => ethernet.has(section))
    : ethernet.has(type);
}

/** NetworkManager matches everything the profile names; a MAC among the names decides. */
function claimsOfEthernet(lines: readonly IniLine[], volatile: boolean): Claims {
  const macs = macsIn(lines, macKeys);
  const name = valueIn(lines, 'connection', 'interface-name');
  const isLease = (valueIn(lines, 'ipv4', 'method') ?? 'auto') === 'auto';
  if (macsIn(lines, ['mac-address']).length > 0) return { macs };
  if (name && volatile && isLease) return { macs, leases: [name], ...generatedMark(lines) };
  if (name) return { macs, names: [name] };
  if (isOnRequestOnly(lines)) return { macs };
  const { patterns, except } = matchedBy(lines);
  const claims = { macs, except: [...except, ...macsIn(lines, leftOutKeys)] };
  return isLease ? { ...claims, leases: patterns } : { ...claims, patterns };
}

/** For a profile limited to some slots, the agent cannot look up whether managed NICs are inside. */
function matchedBy(lines: readonly IniLine[]): NamePatterns {
  const listOf = (key: string) => (valueIn(lines, 'match', key) ?? '').split(';').filter(Boolean);
  const { patterns, except } = namePatterns(listOf('interface-name'));
  const slots = listOf('path');
  const isOfSome = slots.length > 0 && !slots.some((slot) => isPattern(slot) || slot.includes('!'));
  return { patterns: isOfSome && patterns.includes('*') ? [] : patterns, except };
}

/** NetworkManager keeps an automatic profile, for a NIC without another profile, even when told to ignore the NIC. */
function generatedMark(lines: readonly IniLine[]): Pick<Claims, 'generated'> {
  return valueIn(lines, '.nmmeta', 'nm-generated') === 'true' ? { generated: true } : {};
}

const anyMac = /\b(?:[\da-f]{2}:){5}[\da-f]{2}\b/g;

function macsIn(lines: readonly IniLine[], keys: readonly string[]): string[] {
  return lines
    .filter(({ key }) => keys.includes(key))
    .flatMap(({ value }) => value.toLowerCase().replaceAll('-', ':').match(anyMac) ?? []);
}

/** NetworkManager ignores a malformed file until repaired. */
function mentionedIn(text: string): Claims {
  const names = [...text.matchAll(/^\s*(?:interface-name|parent)\s*=\s*(\S+)/gm)];
  return {
    macs: text.toLowerCase().match(anyMac) ?? [],
    names: names.map(([, name = '']) => name),
    stanzas: [malformed],
  };
}
