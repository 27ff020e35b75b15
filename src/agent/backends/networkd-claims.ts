import { basename } from 'node:path';
import { indexOfName, maxIndex } from '../../api/names.ts';
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
import { type IniLine, valueIn } from './ini-text.ts';
import { fixedIn } from './networkd-fixed.ts';
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

/** File names used by this agent; the two numbers may differ. */
const ownName = /^\/etc\/systemd\/network\/(?:9\d*|05)-multinic\d+\.network$/;

/** Parses a `.network` file: which NICs it configures, and whether it is managed. */
export function readNetwork(file: HostFile): ConfigFile {
  const ownLines = systemdLines(file.text);
  const own = ownLines && ownName.test(file.path) ? ownNetwork(file.path, ownLines) : undefined;
  if (own) return { ...file, own, macs: [own.mac] };
  const lines = linesWithDropIns(file);
  // networkd ignores a malformed file until repaired.
  if (!lines) return { ...file, ...mentionedIn(textWithDropIns(file)) };
  return {
    ...file,
    ...claimsOf(lines),
    stanzas: [{ ...stanzaOf(lines), id: basename(file.path) }],
  };
}

/** Returns the option for the link's addresses: DHCP, router advertisements, or an address. */
function stanzaOf(lines: readonly IniLine[]): Stanza {
  const option = leaseOption(lines);
  const fixed = lines.find(
    ({ section, key }) => key === 'Address' && /^(Network|Address)$/.test(section),
  );
  const key = option ?? fixed?.key;
  const section = `[${option ? 'Network' : (fixed?.section ?? 'Network')}]`;
  const servers = matchValues(lines.filter((line) => line.section === 'Network'))('DNS');
  return {
    section: key ? `${section} ${key}` : section,
    dhcp: option !== undefined,
    ...nameServersIn(servers),
    ...fixedIn(lines),
    ...upperIn(lines),
    ...offIn(lines),
  };
}

/** Options in `[Network]` making the link a port or a lower link (systemd.network(5)). */
const upperOptions =
  /^(Bond|Bridge|BatmanAdvanced|VRF|VLAN|MACVLAN|MACVTAP|IPVLAN|IPVTAP|VXLAN|Tunnel|MACsec)$/;

function upperIn(lines: readonly IniLine[]): Pick<Stanza, 'upper'> {
  const found = lines.some(
    ({ section, key, value }) => section === 'Network' && upperOptions.test(key) && value !== '',
  );
  return found ? { upper: true } : {};
}

function offIn(lines: readonly IniLine[]): Pick<Stanza, 'off'> {
  const policy = valueIn(lines, 'Link', 'ActivationPolicy') ?? '';
  if (/^(manual|down|always-down)$/.test(policy)) return { off: 'ActivationPolicy' };
  return isYes(valueIn(lines, 'Link', 'Unmanaged')) ? { off: 'Unmanaged' } : {};
}

function isYes(value = ''): boolean {
  return /^(yes|true|y|t|on|1)$/i.test(value);
}

function leaseOption(lines: readonly IniLine[]): string | undefined {
  if (isLease(lines)) return 'DHCP';
  return isYes(valueIn(lines, 'Network', 'IPv6AcceptRA')) ? 'IPv6AcceptRA' : undefined;
}

/** Returns the name of an adopted NIC: the file matches under any name. */
function nameIn(path: string): string {
  return /\/05-(multinic\d)\.network$/.exec(path)?.[1] ?? '';
}

function ownNetwork(path: string, lines: readonly IniLine[]): OwnFile | undefined {
  const match = lines.filter(({ section }) => section === 'Match');
  const values = Object.fromEntries(match.map(({ key, value }) => [key, value]));
  const { MACAddress: mac = '', Name, Type, ...more } = values;
  const index = indexOfName(Name ?? (Type === 'ether' ? nameIn(path) : ''));
  const plain = match.length === 2 && Object.keys(more).length === 0 && oneMac.test(mac);
  if (!plain || index === undefined || index > maxIndex) return undefined;
  const addresses = lines
    .filter(({ section, key }) => key === 'Address' && /^(Network|Address)$/.test(section))
    .map(({ value }) => value);
  return { mac: mac.toLowerCase(), index, addresses };
}

const oneMac = /^([\da-f]{2}:){5}[\da-f]{2}$/i;

/** Match keys narrowing to a single NIC, or to link kinds managed NICs never have; the agent cannot evaluate them. */
const particular = new Set(['Path', 'Property', 'SSID', 'BSSID', 'WLANInterfaceType']);

/**
 * Returns the links a foreign file configures. networkd applies the first matching file, but a NIC plugged before our
 * file exists gets the foreign file, so file order does not matter.
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
  // Host and driver conditions may also be true for managed NICs.
  const patterns = isOpen ? ['*'] : wanted.filter(isPattern);
  const names = wanted.filter((name) => !isPattern(name));
  const claims = { macs, names, ...leftOut };
  return isLease(lines) ? { ...claims, leases: patterns } : { ...claims, patterns };
}

function isLease(lines: readonly IniLine[]): boolean {
  const dhcp = valueIn(lines, 'Network', 'DHCP') ?? '';
  return !/^(no|false|n|f|off|0|)$/i.test(dhcp);
}

function mentionedIn(text: string): Claims {
  const names = [...text.matchAll(/^\s*Name\s*=\s*(.+)$/gm)];
  return {
    macs: text.toLowerCase().match(/\b([\da-f]{2}:){5}[\da-f]{2}\b/g) ?? [],
    names: names.flatMap(([, list = '']) => list.trim().split(/\s+/)),
    stanzas: [malformed],
  };
}
