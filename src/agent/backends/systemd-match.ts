import { matchesPattern } from '../shell-pattern.ts';
import type { Claims, HostFile } from '../snapshot.ts';
import { type IniLine, readIni } from './ini-text.ts';

/**
 * Parses lines like systemd (systemd.syntax(7)): a trailing backslash continues a line, and malformed lines are
 * ignored. Undefined if a section header is malformed, which invalidates the whole file.
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

/** Returns the lines of a file and its drop-ins, combined; undefined if any part is malformed. */
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

/** Returns a systemd `[Match]` section's values by key. */
export type MatchValues = (...keys: string[]) => string[];

/**
 * Combines lists from repeated keys; an empty value resets the list (systemd.syntax(7)). A mark before a list applies
 * to each word.
 */
export function matchValues(match: readonly IniLine[]): MatchValues {
  const valuesOf = (key: string) =>
    match
      .filter((line) => line.key === key)
      .reduce<string[]>(
        (words, { value }) => (value === '' ? [] : [...words, ...wordsOf(value)]),
        [],
      );
  return (...keys) => keys.flatMap(valuesOf);
}

function wordsOf(list: string): string[] {
  const [, mark = '', words = ''] = /^(!?)\s*(.*)$/.exec(list) ?? [];
  return words.split(/\s+/).map((word) => mark + word);
}

/** True if the `[Match]` section has no condition: systemd ignores such a file, at least since version 247. */
export function isEmptyMatch(match: readonly IniLine[]): boolean {
  const valuesOf = matchValues(match);
  return match.every(({ key }) => valuesOf(key).length === 0);
}

/** Returns matched MACs, lower case with colons: systemd also accepts hyphens and dots. */
export function macsIn(valuesOf: MatchValues): string[] {
  return valuesOf('MACAddress', 'PermanentMACAddress').map((mac) => {
    const digits = mac.toLowerCase().replaceAll(/[^\da-f]/g, '');
    return digits.replaceAll(/..(?=.)/g, '$&:');
  });
}

/** True if the match requires link types other than Ethernet. */
export function isOfOtherType(valuesOf: MatchValues): boolean {
  return !isAmong('ether', valuesOf('Type'));
}

/** True if the match requires a virtual link kind; a NIC has none. */
export function isOfOtherKind(valuesOf: MatchValues): boolean {
  return !isAmong(undefined, valuesOf('Kind'));
}

/** True if the list covers the word: not excluded, and matched if the list names anything (net_condition_test_strv). */
function isAmong(word: string | undefined, list: readonly string[]): boolean {
  const { wanted, leftOut } = listIn(list.map((each) => each.replaceAll(/["']/g, '')));
  const matches = (pattern: string) => word !== undefined && matchesPattern(word, pattern);
  return !leftOut.some(matches) && (wanted.length === 0 || wanted.some(matches));
}

/** Splits a list into wanted and excluded patterns. */
function listIn(list: readonly string[]) {
  return {
    wanted: list.filter((word) => !word.startsWith('!')),
    leftOut: list.flatMap((word) => (word.startsWith('!') ? [word.slice(1)] : [])),
  };
}

/** Splits a list of names; an empty `wanted` means all names except the excluded. */
export function namesIn(list: readonly string[]): Pick<Claims, 'notNames'> & { wanted: string[] } {
  const { wanted, leftOut } = listIn(list);
  return { wanted, ...(leftOut.length > 0 ? { notNames: leftOut } : {}) };
}
