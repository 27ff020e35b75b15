import { basename } from 'node:path';
import * as z from 'zod';
import { indexOfName, interfaceName, maxIndex } from '../../api/names.ts';
import type { Place, RenderedFile } from '../planning/backend.ts';
import type { DesiredNic } from '../planning/desired.ts';
import { isPattern, matchesPattern } from '../shell-pattern.ts';
import type { Claims, ConfigFile, HostFile, OwnFile } from '../snapshot.ts';
import { type IniLine, strictIni } from './ini-text.ts';
import {
  isEmptyMatch,
  isOfOtherKind,
  isOfOtherType,
  linesWithDropIns,
  macsIn,
  matchValues,
  namesIn,
  systemdLines,
} from './systemd-match.ts';

const directory = '/etc/systemd/network';
/** File names used by this agent and predecessors; the two numbers in an old name may differ. */
const ownName = /^\/etc\/systemd\/network\/(?:9\d*|05)-multinic\d+\.link$/;

/** Folders where udev looks for link names (systemd.link(5)). */
export const linkPlaces: readonly Place[] = ['/etc', '/run', '/usr/lib'].map((root) => ({
  directory: `${root}/systemd/network`,
  suffix: '.link',
  hides: true,
  dropIns: true,
}));

/** udev applies the first matching file in name order: systemd's own `99-default.link` matches all links. */
function linkPath({ index, adopted }: DesiredNic): string {
  const place = adopted ? adoptedPlace : index === 9 ? 98 : 90 + index;
  return `${directory}/${place}-${interfaceName(index)}.link`;
}

/** Number for adopted NICs: the first matching file wins, and cloud-init's have the number 10. */
export const adoptedPlace = '05';

/**
 * Renders the file by which udev names the NIC. `PermanentMACAddress=` would be more precise, but systemd 239 on
 * Enterprise Linux 8 lacks it, and some NICs have no permanent MAC.
 */
export function renderLink(nic: DesiredNic, mode: number): RenderedFile {
  const text = `[Match]\nMACAddress=${nic.mac}\n\n[Link]\nName=${nic.name}\n`;
  return { path: linkPath(nic), text, mode };
}

const ownLink = z.strictObject({
  Match: z.strictObject({ MACAddress: z.string() }),
  Link: z.strictObject({ Name: z.string() }),
});

/** Throws if the file, read back, does not give the NIC its name. */
export function validateLink(text: string, { mac, name }: DesiredNic): void {
  const { Match, Link } = ownLink.parse(strictIni(text));
  if (Match.MACAddress === mac && Link.Name === name) return;
  throw new Error(`generated .link file of ${name} does not match the requested name`);
}

/** Parses a udev `.link` file: which NICs it names, and whether it is managed. */
export function readLink(file: HostFile): ConfigFile {
  const lines = systemdLines(file.text) ?? [];
  const own = ownName.test(file.path) ? ownFile(lines) : undefined;
  if (own) return { ...file, own, macs: [own.mac] };
  return {
    ...file,
    ...claimsOf(file.path, linesWithDropIns(file) ?? []),
    stanzas: [{ section: '[Link]', id: basename(file.path) }],
  };
}

function ownFile(lines: readonly IniLine[]): OwnFile | undefined {
  const values = Object.fromEntries(lines.map(({ section, key, value }) => [section + key, value]));
  const { MatchMACAddress: mac, LinkName: name, ...more } = values;
  const index = indexOfName(name ?? '');
  const plain = lines.length === 2 && Object.keys(more).length === 0;
  if (!plain || !mac || index === undefined || index > maxIndex) return undefined;
  return { mac: mac.toLowerCase(), index, addresses: [] };
}

/** Match keys the agent cannot evaluate for managed NICs. Host conditions are assumed true. */
const narrower = new Set(['Path', 'Property']);

/**
 * Returns the NICs a foreign file names or could name. Files ordered after ours name no managed NIC. Whether the file
 * sets a name is irrelevant, as udev applies only one file.
 */
function claimsOf(path: string, lines: readonly IniLine[]): Claims {
  const match = lines.filter(({ section }) => section === 'Match');
  if (isAfterOurs(path) || isEmptyMatch(match)) return { macs: [] };
  const valuesOf = matchValues(match);
  const macs = macsIn(valuesOf);
  const isNarrow = match.some(({ key }) => narrower.has(key));
  const isOther = isOfOtherType(valuesOf) || isOfOtherKind(valuesOf);
  if (macs.length > 0 || isNarrow || isOther) return { macs };
  const { wanted, ...leftOut } = namesIn(valuesOf('OriginalName'));
  const isOpen = wanted.length === 0 || wanted.some(isOfTheKernel);
  return { macs, patterns: isOpen ? ['*'] : wanted, ...leftOut };
}

/** True if the pattern matches many kernel names: at boot each managed NIC first has such a name. */
function isOfTheKernel(name: string): boolean {
  return (
    isPattern(name) &&
    Array.from({ length: 10 }, (_, at) => `eth${at}`).some((each) => matchesPattern(each, name))
  );
}

function isAfterOurs(path: string): boolean {
  return path.replace(/^.*\//, '') >= '99';
}
