import { matchesPattern } from '../shell-pattern.ts';
import type { Claims, HostFile } from '../snapshot.ts';
import { type IniLine, readIni } from './ini-text.ts';

/**
 * Lines of a file as systemd reads it (systemd.syntax(7)): one that ends in a backslash goes on in the next, and what says
 * nothing is passed by. Undefined when the head of a section is broken: then the whole file is.
 */
export function systemdLines(text: string): IniLine[] | undefined {
  const lines = text
    .split(/\r\n?|[\n\0]/)
    .filter((line) => !/^\s*[#;]/.test(line))
    .join('\n')
    .replaceAll(/(?<!\\)((?:\\\\)*)\\\n/g, '$1 ')
    .split('\n')
    .filter((line) => /^\s*(\[|[^=\s][^=]*=)/.test(line));
  const first = lines.findIndex((line) => /^\s*\[/.test(line));
  return first < 0 ? [] : readIni(lines.slice(first).join('\n'));
}

/** Lines of a file and of its drop-ins, as if they were one; undefined when one of them is broken. */
export function linesWithDropIns(file: HostFile): IniLine[] | undefined {
  const parts = textsOf(file).map(systemdLines);
  return parts.includes(undefined) ? undefined : parts.flatMap((lines) => lines ?? []);
}

export function textWithDropIns(file: HostFile): string {
  return textsOf(file).join('\n');
}

function textsOf({ text, dropIns = [] }: HostFile): string[] {
  return [text, ...dropIns.map((each) => each.text)];
}

/** Values of a `[Match]` section of systemd, by key. */
export type MatchValues = (...keys: string[]) => string[];

/**
 * Lists are given for a key at once or in turn, and an empty one takes back what was said of it before (systemd.syntax(7)).
 * A mark in front of a list is one of each of its words.
 */
export function matchValues(match: readonly IniLine[]): MatchValues {
  const valuesOf = (key: string) =>
    match
      .filter((line) => line.key === key)
      .reduce<string[]>(
        (said, { value }) => (value === '' ? [] : [...said, ...wordsOf(value)]),
        [],
      );
  return (...keys) => keys.flatMap(valuesOf);
}

function wordsOf(list: string): string[] {
  const [, mark = '', words = ''] = /^(!?)\s*(.*)$/.exec(list) ?? [];
  return words.split(/\s+/).map((word) => mark + word);
}

/** Whether a `[Match]` section asks for nothing: systemd passes by such a file, since version 247 at the latest. */
export function isEmptyMatch(match: readonly IniLine[]): boolean {
  const valuesOf = matchValues(match);
  return match.every(({ key }) => valuesOf(key).length === 0);
}

/** The MACs that it asks for, in lower case with colons: systemd takes them with hyphens or dots, too. */
export function macsIn(valuesOf: MatchValues): string[] {
  return valuesOf('MACAddress', 'PermanentMACAddress').map((mac) => {
    const digits = mac.toLowerCase().replaceAll(/[^\da-f]/g, '');
    return digits.replaceAll(/..(?=.)/g, '$&:');
  });
}

/** Whether it asks for types of links of which no Ethernet NIC is. */
export function isOfOtherType(valuesOf: MatchValues): boolean {
  return !isAmong('ether', valuesOf('Type'));
}

/** Whether it asks for kinds of virtual links; a NIC is of none. */
export function isOfOtherKind(valuesOf: MatchValues): boolean {
  return !isAmong(undefined, valuesOf('Kind'));
}

/** Whether a list is about it: nothing that the list leaves out, and something that it asks for if it does (net_condition_test_strv). */
function isAmong(word: string | undefined, list: readonly string[]): boolean {
  const { wanted, leftOut } = listIn(list.map((each) => each.replaceAll(/["']/g, '')));
  const matches = (pattern: string) => word !== undefined && matchesPattern(word, pattern);
  return !leftOut.some(matches) && (wanted.length === 0 || wanted.some(matches));
}

/** The patterns that a list asks for, and those that it leaves out. */
function listIn(list: readonly string[]) {
  return {
    wanted: list.filter((word) => !word.startsWith('!')),
    leftOut: list.flatMap((word) => (word.startsWith('!') ? [word.slice(1)] : [])),
  };
}

/** What a list of names asks for: without anything, all but what it leaves out. */
export function namesIn(list: readonly string[]): Pick<Claims, 'notNames'> & { wanted: string[] } {
  const { wanted, leftOut } = listIn(list);
  return { wanted, ...(leftOut.length > 0 ? { notNames: leftOut } : {}) };
}
