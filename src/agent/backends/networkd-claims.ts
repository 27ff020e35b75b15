import { indexOfName, maxIndex } from '../../api/names.ts';
import { isPattern } from '../shell-pattern.ts';
import type { Claims, ConfigFile, HostFile, OwnFile } from '../snapshot.ts';
import type { IniLine } from './ini-text.ts';
import {
  isEmptyMatch,
  isOfOtherKind,
  isOfOtherType,
  linesWithDropIns,
  macsIn,
  matchValues,
  namesIn,
  systemdLines,
  textWithDropIns,
} from './systemd-match.ts';

/** Names that this agent gives its files; the two numbers need not agree. */
const ownName = /^\/etc\/systemd\/network\/9\d*-multinic\d+\.network$/;

/** What a `.network` file is about, and whether it is one of ours. */
export function readNetwork(file: HostFile): ConfigFile {
  const said = systemdLines(file.text);
  const own = said && ownName.test(file.path) ? ownNetwork(said) : undefined;
  if (own) return { ...file, own, macs: [own.mac] };
  const lines = linesWithDropIns(file);
  // networkd passes by such a file, until somebody mends it.
  if (!lines) return { ...file, ...mentionedIn(textWithDropIns(file)) };
  return { ...file, ...claimsOf(lines) };
}

function ownNetwork(lines: readonly IniLine[]): OwnFile | undefined {
  const match = lines.filter(({ section }) => section === 'Match');
  const said = Object.fromEntries(match.map(({ key, value }) => [key, value]));
  const { MACAddress: mac = '', Name: name = '', ...more } = said;
  const index = indexOfName(name);
  const plain = match.length === 2 && Object.keys(more).length === 0 && oneMac.test(mac);
  if (!plain || index === undefined || index > maxIndex) return undefined;
  const addresses = lines
    .filter(({ section, key }) => key === 'Address' && /^(Network|Address)$/.test(section))
    .map(({ value }) => value);
  return { mac: mac.toLowerCase(), index, addresses };
}

const oneMac = /^([\da-f]{2}:){5}[\da-f]{2}$/i;

/** What narrows a match to one NIC or to kinds of links that no NIC of ours is of; the agent cannot look it up. */
const particular = new Set(['Path', 'Property', 'SSID', 'BSSID', 'WLANInterfaceType']);

/**
 * Whose links a file of somebody else configures. networkd takes the first file that matches, but a NIC that is plugged
 * while ours is not there yet has that of others, so their order does not matter.
 */
function claimsOf(lines: readonly IniLine[]): Claims {
  const match = lines.filter(({ section }) => section === 'Match');
  const valuesOf = matchValues(match);
  const macs = macsIn(valuesOf);
  const isOther = isOfOtherType(valuesOf) || isOfOtherKind(valuesOf);
  if (macs.length > 0 || isOther || isEmptyMatch(match)) return { macs };
  const { wanted, ...leftOut } = namesIn(valuesOf('Name'));
  const isOpen = wanted.length === 0;
  if (isOpen && match.some(({ key }) => particular.has(key))) return { macs };
  // It may say of the host or of a driver, of which others are too, what is true of ours.
  const patterns = isOpen ? ['*'] : wanted.filter(isPattern);
  const names = wanted.filter((name) => !isPattern(name));
  const claims = { macs, names, ...leftOut };
  return isLease(lines) ? { ...claims, leases: patterns } : { ...claims, patterns };
}

function isLease(lines: readonly IniLine[]): boolean {
  const said = lines.findLast(({ section, key }) => section === 'Network' && key === 'DHCP');
  return said !== undefined && !/^(no|false|n|f|off|0|)$/i.test(said.value);
}

function mentionedIn(text: string): Claims {
  const names = [...text.matchAll(/^\s*Name\s*=\s*(.+)$/gm)];
  return {
    macs: text.toLowerCase().match(/\b([\da-f]{2}:){5}[\da-f]{2}\b/g) ?? [],
    names: names.flatMap(([, list = '']) => list.trim().split(/\s+/)),
  };
}
