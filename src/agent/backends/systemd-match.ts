import type { IniLine } from './ini-text.ts';

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

/** Whether the names it asks for say of every NIC that may be meant: none is asked for, or some are left out. */
export function isOpen(names: readonly string[]): boolean {
  return names.length === 0 || names.some((name) => name.startsWith('!'));
}
