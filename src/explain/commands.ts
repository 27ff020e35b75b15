import type { OpenstackConfig } from '../api/openstackconfig.ts';
import { type CommandRow, type PatchJson, patchConfig } from '../api/reasons/next-step-row.ts';

/** Quotes a word for a shell: OpenStack allows any character in names. */
export function shellWord(text: string): string {
  return /^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`;
}

function command(...words: readonly string[]): string {
  return words.map(shellWord).join(' ');
}

/** Splits `namespace/name`. */
export function partsOf(config: string): readonly [namespace: string, name: string] {
  const [namespace = '', name = ''] = config.split('/');
  return [namespace, name];
}

/** Values by placeholder; a list stands for several words. */
export type CommandValues = Readonly<Record<string, string | number | readonly string[]>>;

/** Returns commands from the reasons table with values; undefined: a value is unknown. */
export function filledCommands(
  rows: readonly CommandRow[],
  values: Readonly<Record<string, CommandValues[string] | undefined>>,
): readonly string[] | undefined {
  const known = new Map(Object.entries(values));
  const needed = rows.flatMap((row) => placeholdersIn(JSON.stringify(row)));
  if (needed.some((name) => known.get(name) === undefined)) return undefined;
  return rows.map((row) => command(...row.flatMap((word) => wordsOf(word, known))));
}

type Known = ReadonlyMap<string, CommandValues[string] | undefined>;

const placeholder = /\{(\w+)\}/g;

function placeholdersIn(text: string): string[] {
  return [...text.matchAll(placeholder)].map(([, name = '']) => name);
}

function wordsOf(word: CommandRow[number], values: Known): readonly string[] {
  if (typeof word === 'object') return [JSON.stringify(jsonOf(word, values))];
  const value = wholeValue(word, values);
  return typeof value === 'object' ? value : [inserted(word, values)];
}

function jsonOf(json: PatchJson, values: Known): unknown {
  if (typeof json === 'string') return wholeValue(json, values) ?? inserted(json, values);
  if (typeof json !== 'object') return json;
  if (Array.isArray(json)) return json.map((each: PatchJson) => jsonOf(each, values));
  return Object.fromEntries(Object.entries(json).map(([key, each]) => [key, jsonOf(each, values)]));
}

/** Returns a single placeholder's value; a number stays a number. */
function wholeValue(word: string, values: Known): CommandValues[string] | undefined {
  const [, name] = /^\{(\w+)\}$/.exec(word) ?? [];
  return name === undefined ? undefined : values.get(name);
}

function inserted(word: string, values: Known): string {
  return word.replaceAll(placeholder, (_, name: string) => String(values.get(name)));
}

/** Returns a command to consent to an OpenstackConfig's held removals. */
export function allowRemovals(config: string): string {
  return multinic('allow-removals', config);
}

type SettingValues = Readonly<Record<string, string>>;

/**
 * Returns a command to change an OpenstackConfig's settings. After a client-side apply, `kubectl apply --server-side`
 * with these fields alone would remove the rest.
 */
export function patchSettings(config: string, settings: SettingValues): string {
  const [namespace, name] = partsOf(config);
  return (filledCommands([patchConfig({ spec: { settings } })], { namespace, name }) ?? []).join(
    '; ',
  );
}

/** Returns a command to preview an OpenstackConfig with these settings. */
export function planSettings(config: string, settings: SettingValues): string {
  const edits = Object.entries(settings).flatMap(([key, value]) => ['--set', `${key}=${value}`]);
  return multinic('plan', config, ...edits);
}

/** Returns a kubectl plugin command. */
export function multinic(...words: readonly string[]): string {
  return command('kubectl', 'multinic', ...words);
}

/** Returns an object's `namespace/name`. */
export function keyOf({ metadata: { namespace = '', name } }: OpenstackConfig): string {
  return `${namespace}/${name}`;
}
