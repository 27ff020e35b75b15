import { basename } from 'node:path';
import type { Place } from '../planning/backend.ts';
import { matchesPattern } from '../shell-pattern.ts';
import type { HostFile } from '../snapshot.ts';

/** Administrator's rules; a name set by a udev rule takes precedence over a `.link` file (udev(7)). */
export const rulesPlace: Place = { directory: '/etc/udev/rules.d', suffix: '.rules' };

/** File replacing systemd's rules for reading `.link` files, often a link to /dev/null. */
export const linkFileRules = `${rulesPlace.directory}/80-net-setup-link.rules`;

/** Name set by a rule, with the rule's file. */
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
 * Returns the name udev rules give the NIC with this MAC at boot; undefined if no rule names the MAC. udev reads the
 * rules in all folders in file name order. If rules in files with the prefix `generated` name the NIC, earlier rules
 * count only if final.
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

/** True if a rule file stops udev from reading `.link` files (systemd.link(5)); an unreadable file is no evidence. */
export function hasNoLinkFiles(files: readonly HostFile[]): boolean {
  const isReplaced = files.some(
    ({ path, unread }) => path === linkFileRules && unread === undefined,
  );
  return isReplaced && !files.some(({ text }) => rulesOf(text).flat().some(readsLinkFiles));
}

function readsLinkFiles({ key, value }: Token): boolean {
  return key === 'IMPORT{builtin}' && value === 'net_setup_link';
}

/** `:=` is final: later rules change nothing. */
const assigning = new Set(['=', ':=']);

/** Each line is a rule; a backslash continues the line. */
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

/** The kernel writes MACs in lower case, and adds NICs at boot. */
function isAbout(tokens: readonly Token[], mac: string): boolean {
  const namesMac = tokens.some(
    ({ key, operator, value }) => isAddress(key) && operator === '==' && /[\da-f]{2}:/.test(value),
  );
  return namesMac && tokens.every((token) => mayHold(token, mac));
}

/** True if the condition may hold for the NIC; the agent cannot evaluate most conditions. */
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
