import { indexOfName, maxIndex } from '../../api/names.ts';
import { isPattern } from '../shell-pattern.ts';
import type { Claims, ConfigFile, HostFile, OwnFile } from '../snapshot.ts';
import { type IniLine, readIni, valueIn } from './ini-text.ts';
import { type NamePatterns, namePatterns } from './name-patterns.ts';

/** Names that this agent and its predecessors gave their files; the two numbers of an old one need not agree. */
const ownName = /^\/etc\/NetworkManager\/system-connections\/9\d*-multinic\d+\.nmconnection$/;
/** Made for this boot: by NetworkManager itself, by the initramfs, by somebody who did not mean it to last. */
const volatilePlace = /^\/run\//;
const macKeys = ['mac-address', 'cloned-mac-address'];
/** The second one is what the first was called before version 1.48. */
const leftOutKeys = ['mac-address-denylist', 'mac-address-blacklist'];
const ethernet = new Set(['ethernet', '802-3-ethernet']);

/** What a profile of NetworkManager is about, and whether it is one of ours. */
export function readProfile(file: HostFile): ConfigFile {
  const lines = readIni(file.text);
  if (!lines) return { ...file, ...mentionedIn(file.text) };
  const own = ownName.test(file.path) ? ownProfile(lines) : undefined;
  if (own) return { ...file, own, macs: [own.mac] };
  return { ...file, ...claimsOf(lines, volatilePlace.test(file.path)) };
}

/** Of every generation: one MAC, one name of ours. */
function ownProfile(lines: readonly IniLine[]): OwnFile | undefined {
  const type = valueIn(lines, 'connection', 'type') ?? '';
  const index = indexOfName(valueIn(lines, 'connection', 'interface-name') ?? '');
  const [mac] = macsIn(lines, ['mac-address']);
  if (!ethernet.has(type) || index === undefined || index > maxIndex || !mac) return undefined;
  const addresses = lines
    .filter(({ section, key }) => /^ipv[46]$/.test(section) && /^address(es)?\d*$/.test(key))
    .map(({ value }) => value.replace(/[,;].*$/, ''));
  return { mac, index, addresses };
}

/**
 * Whose NICs a profile of somebody else configures. What NetworkManager writes down of a device that others set up, this
 * agent among them, configures none; version 1.30 says so no more once the device has changed. Nothing but names and MACs is
 * taken: a profile may hold secrets.
 */
function claimsOf(lines: readonly IniLine[], volatile: boolean): Claims {
  const waits = isOnlyAsked(lines);
  if (valueIn(lines, '.nmmeta', 'external') === 'true' || (volatile && waits)) return { macs: [] };
  if (isEthernet(lines)) return claimsOfEthernet(lines, volatile);
  const names = lines
    .filter(
      ({ section, key }) =>
        key === 'parent' || (section === 'connection' && key === 'interface-name'),
    )
    .map(({ value }) => value);
  return { macs: macsIn(lines, macKeys), names };
}

/** Whether it configures a NIC only when somebody asks for that. */
function isOnlyAsked(lines: readonly IniLine[]): boolean {
  return /^(false|0)$/.test(valueIn(lines, 'connection', 'autoconnect') ?? '');
}

/** One without a type is of that of its settings (nm_connection_normalize). */
function isEthernet(lines: readonly IniLine[]): boolean {
  const type = valueIn(lines, 'connection', 'type');
  return type === undefined
    ? lines.some(({ section }) => ethernet.has(section))
    : ethernet.has(type);
}

/** NetworkManager goes by everything that a profile names; a MAC among it decides. */
function claimsOfEthernet(lines: readonly IniLine[], volatile: boolean): Claims {
  const macs = macsIn(lines, macKeys);
  const name = valueIn(lines, 'connection', 'interface-name');
  const isLease = (valueIn(lines, 'ipv4', 'method') ?? 'auto') === 'auto';
  if (macsIn(lines, ['mac-address']).length > 0) return { macs };
  if (name && volatile && isLease) return { macs, leases: [name], ...madeBy(lines) };
  if (name) return { macs, names: [name] };
  if (isOnlyAsked(lines)) return { macs };
  const { patterns, except } = matchedBy(lines);
  const claims = { macs, except: [...except, ...macsIn(lines, leftOutKeys)] };
  return isLease ? { ...claims, leases: patterns } : { ...claims, patterns };
}

/** Of one for every NIC in some slots the agent cannot look up whether ours are in them. */
function matchedBy(lines: readonly IniLine[]): NamePatterns {
  const listOf = (key: string) => (valueIn(lines, 'match', key) ?? '').split(';').filter(Boolean);
  const { patterns, except } = namePatterns(listOf('interface-name'));
  const slots = listOf('path');
  const isOfSome = slots.length > 0 && !slots.some((slot) => isPattern(slot) || slot.includes('!'));
  return { patterns: isOfSome && patterns.includes('*') ? [] : patterns, except };
}

/** A profile that NetworkManager made for a NIC that nobody has one for stays there when it is told to leave the NIC alone. */
function madeBy(lines: readonly IniLine[]): Pick<Claims, 'generated'> {
  return valueIn(lines, '.nmmeta', 'nm-generated') === 'true' ? { generated: true } : {};
}

const anyMac = /\b(?:[\da-f]{2}:){5}[\da-f]{2}\b/g;

function macsIn(lines: readonly IniLine[], keys: readonly string[]): string[] {
  return lines
    .filter(({ key }) => keys.includes(key))
    .flatMap(({ value }) => value.toLowerCase().replaceAll('-', ':').match(anyMac) ?? []);
}

/** NetworkManager takes nothing of such a file, until somebody mends it. */
function mentionedIn(text: string): Claims {
  const names = [...text.matchAll(/^\s*(?:interface-name|parent)\s*=\s*(\S+)/gm)];
  return {
    macs: text.toLowerCase().match(anyMac) ?? [],
    names: names.map(([, name = '']) => name),
  };
}
