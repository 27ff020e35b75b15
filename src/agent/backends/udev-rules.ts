import { basename } from 'node:path';
import { matchesPattern } from '../shell-pattern.ts';
import type { HostFile } from '../snapshot.ts';
import type { Place } from './backend.ts';

/** Rules of the host's administrator; udev takes the name of a rule before that of a `.link` file (udev(7)). */
export const rulesPlace: Place = { directory: '/etc/udev/rules.d', suffix: '.rules' };

/** What takes the place of systemd's rules that have udev read `.link` files, often a link to /dev/null. */
export const linkFileRules = `${rulesPlace.directory}/80-net-setup-link.rules`;

/** The name that a rule gives to a NIC, and the file of the rule. */
export interface RuledName {
  readonly path: string;
  readonly name: string;
}

interface Token {
  readonly key: string;
  readonly operator: string;
  readonly value: string;
}

/**
 * Returns the name that rules give to the NIC with this MAC at a boot; undefined when none names the MAC.
 * udev reads the rules of all folders in order of their files' names. Where rules name it in files that begin with `generated`, what
 * comes before them counts only if it is final.
 */
export function nameByRules(
  files: readonly HostFile[],
  mac: string,
  generated = '',
): RuledName | undefined {
  let last: RuledName | undefined;
  for (const { path, text } of files) {
    for (const tokens of rulesOf(text)) {
      const given = tokens.find(({ key, operator }) => key === 'NAME' && assigning.has(operator));
      if (!given || given.value === '' || !isAbout(tokens, mac)) continue;
      const isFinal = given.operator === ':=';
      if (!isFinal && basename(path) < generated) continue;
      last = { path, name: given.value };
      if (isFinal) return last;
    }
  }
  return last;
}

/** Returns whether a rule file keeps udev from reading `.link` files (systemd.link(5)); an unreadable file counts as no evidence. */
export function hasNoLinkFiles(files: readonly HostFile[]): boolean {
  const isReplaced = files.some(
    ({ path, unread }) => path === linkFileRules && unread === undefined,
  );
  return isReplaced && !files.some(({ text }) => rulesOf(text).flat().some(readsLinkFiles));
}

function readsLinkFiles({ key, value }: Token): boolean {
  return key === 'IMPORT{builtin}' && value === 'net_setup_link';
}

/** `:=` is final: later rules change nothing any more. */
const assigning = new Set(['=', ':=']);

/** A rule is a line, which a backslash continues. */
function rulesOf(text: string): Token[][] {
  const lines = text.replaceAll(/\\\r?\n/g, '').split(/\r?\n/);
  return lines.filter((line) => !line.trimStart().startsWith('#')).map(tokensOf);
}

function tokensOf(line: string): Token[] {
  const token = /([A-Z]+(?:\{[^}]*\})?)\s*([=!+:-]?=)\s*(e?i?)"((?:[^"\\]|\\.)*)"/g;
  return [...line.matchAll(token)].map(([, key = '', operator = '', flags = '', value = '']) => ({
    key,
    operator,
    value: flags.includes('i') ? value.toLowerCase() : value,
  }));
}

/** The kernel writes MACs in lower case, and adds a NIC at a boot. */
function isAbout(tokens: readonly Token[], mac: string): boolean {
  const namesMac = tokens.some(
    ({ key, operator, value }) => isAddress(key) && operator === '==' && /[\da-f]{2}:/.test(value),
  );
  return namesMac && tokens.every((token) => mayHold(token, mac));
}

/** Whether the condition may be true of the NIC; the agent does not know what most of them are about. */
function mayHold({ key, operator, value }: Token, mac: string): boolean {
  const text = isAddress(key) ? mac : known[key];
  if (text === undefined || (operator !== '==' && operator !== '!=')) return true;
  const matches = value.split('|').some((pattern) => matchesPattern(text, pattern));
  return matches === (operator === '==');
}

function isAddress(key: string): boolean {
  return key === 'ATTR{address}' || key === 'ATTRS{address}';
}

const known: Readonly<Record<string, string>> = { SUBSYSTEM: 'net', ACTION: 'add' };
