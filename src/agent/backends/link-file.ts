import * as z from 'zod';
import { indexOfName, interfaceName, maxIndex } from '../../api/names.ts';
import type { DesiredNic } from '../planning/desired.ts';
import { isPattern, matchesPattern } from '../shell-pattern.ts';
import type { Claims, ConfigFile, HostFile, OwnFile } from '../snapshot.ts';
import type { Place, RenderedFile } from './backend.ts';
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
/** Names that this agent and its predecessors gave their files; the two numbers of an old one need not agree. */
const ownName = /^\/etc\/systemd\/network\/9\d*-multinic\d+\.link$/;

/** Where udev looks for what a link is called (systemd.link(5)). */
export const linkPlaces: readonly Place[] = ['/etc', '/run', '/usr/lib'].map((root) => ({
  directory: `${root}/systemd/network`,
  suffix: '.link',
  hides: true,
  dropIns: true,
}));

/** udev takes the first file that matches, in the order of their names: systemd's own `99-default.link` matches all. */
function linkPath(index: number): string {
  return `${directory}/${index === 9 ? 98 : 90 + index}-${interfaceName(index)}.link`;
}

/**
 * The file by which udev names the NIC. `PermanentMACAddress=` would be nearer to what is meant, but systemd 239 of
 * Enterprise Linux 8 does not know it, and some NICs have none.
 */
export function renderLink({ index, mac, name }: DesiredNic, mode: number): RenderedFile {
  const text = `[Match]\nMACAddress=${mac}\n\n[Link]\nName=${name}\n`;
  return { path: linkPath(index), text, mode };
}

const ownLink = z.strictObject({
  Match: z.strictObject({ MACAddress: z.string() }),
  Link: z.strictObject({ Name: z.string() }),
});

/** Throws when the file, read back, does not give the NIC its name. */
export function validateLink(text: string, { mac, name }: DesiredNic): void {
  const { Match, Link } = ownLink.parse(strictIni(text));
  if (Match.MACAddress === mac && Link.Name === name) return;
  throw new Error(`the file that names ${name} does not say what was asked for`);
}

/** What a file for udev is about, and whether it is one of ours. */
export function readLink(file: HostFile): ConfigFile {
  const lines = systemdLines(file.text) ?? [];
  const own = ownName.test(file.path) ? ownFile(lines) : undefined;
  if (own) return { ...file, own, macs: [own.mac] };
  return { ...file, ...claimsOf(file.path, linesWithDropIns(file) ?? []) };
}

function ownFile(lines: readonly IniLine[]): OwnFile | undefined {
  const said = Object.fromEntries(lines.map(({ section, key, value }) => [section + key, value]));
  const { MatchMACAddress: mac, LinkName: name, ...more } = said;
  const index = indexOfName(name ?? '');
  const plain = lines.length === 2 && Object.keys(more).length === 0;
  if (!plain || !mac || index === undefined || index > maxIndex) return undefined;
  return { mac: mac.toLowerCase(), index, addresses: [] };
}

/**
 * What narrows a match to NICs of which the agent cannot tell whether ours are among them. What is said of the host may be
 * true of this one.
 */
const narrower = new Set(['Path', 'Property']);

/**
 * Whose NICs a file of somebody else names, or would. One that comes after ours names none of ours; whether it says a name
 * does not matter, as udev reads one file only.
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

/** Whether it is for many of the names that the kernel gives to NICs: at a boot each of ours has one of them at first. */
function isOfTheKernel(name: string): boolean {
  return (
    isPattern(name) &&
    Array.from({ length: 10 }, (_, at) => `eth${at}`).some((each) => matchesPattern(each, name))
  );
}

function isAfterOurs(path: string): boolean {
  return path.replace(/^.*\//, '') >= '99';
}
