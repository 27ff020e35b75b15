import type { HostFile } from '../snapshot.ts';
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
 */
export function matchValues(match: readonly IniLine[]): MatchValues {
  const valuesOf = (key: string) =>
    match
      .filter((line) => line.key === key)
      .reduce<string[]>(
        (said, { value }) => (value === '' ? [] : [...said, ...value.split(/\s+/)]),
        [],
      );
  return (...keys) => keys.flatMap(valuesOf);
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
  const types = valuesOf('Type');
  return types.length > 0 && !types.some((type) => /^(!|ether$)|\*/.test(type));
}

/** Whether it asks for kinds of virtual links; a NIC is of none. */
export function isOfOtherKind(valuesOf: MatchValues): boolean {
  const kinds = valuesOf('Kind');
  return kinds.length > 0 && !kinds.some((kind) => kind.startsWith('!'));
}

/** Whether the names it asks for say of every NIC that may be meant: none is asked for, or some are left out. */
export function isOpen(names: readonly string[]): boolean {
  return names.length === 0 || names.some((name) => name.startsWith('!'));
}
