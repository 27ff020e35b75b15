import * as z from 'zod';

/** What becomes of a setting that leaves the product; both kinds are gone after one release. */
export interface Deprecation {
  /** What the user does or gets instead, as the end of a sentence. */
  readonly instead: string;
  /** True: the value has no effect. False: the value still counts, for one release. */
  readonly isIgnored: boolean;
}

/** A part's setting: sources, allowed values and purpose. */
export interface Setting<T = unknown> {
  /** Environment variables; the first non-empty one wins. Later names are from earlier generations. */
  readonly env: readonly string[];
  /** Command-line flag without leading dashes; wins over the environment. */
  readonly flag: string;
  /** Parses text as users write it; its default (`prefault`) is the one that `--help` and the reference show. */
  readonly schema: z.ZodType<T, string | undefined>;
  /** Sentences: what it does, with the unit; then what happens when it is wrong. Errors quote the first one. */
  readonly description: string;
  /** Set: `--help` and tables leave the setting out, and its use is logged as a warning. */
  readonly deprecated?: Deprecation;
  /** Secrets never appear in output, not even invalid ones. */
  readonly secret?: boolean;
}

export type Settings = Readonly<Record<string, Setting>>;
export type Values<S extends Settings> = {
  readonly [K in keyof S]: S[K] extends Setting<infer T> ? T : never;
};

export interface SettingSource {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly flags: Readonly<Record<string, string | undefined>>;
}

/** An unusable setting. */
export interface SettingProblem {
  readonly name: string;
  readonly value: string | undefined;
  readonly message: string;
}

/** All unusable settings in a part; the message has one line per setting. */
export class SettingsError extends Error {
  readonly problems: readonly SettingProblem[];
  constructor(problems: readonly SettingProblem[]) {
    super(problems.map(({ name, message }) => `${name}: ${message}`).join('\n'));
    this.name = 'SettingsError';
    this.problems = problems;
  }
}

/** Keeps the setting's literal type. */
export function setting<T>(definition: Setting<T>): Setting<T> {
  return definition;
}

/** A setting without effect: the process accepts it for one release and logs what to do instead. */
export function removedSetting(
  flag: string,
  env: readonly string[],
  instead: string,
): Setting<string | undefined> {
  const deprecated = { instead, isIgnored: true };
  return { env, flag, schema: z.string().optional(), description: '', deprecated };
}

/** A setting that another one replaces: its value still counts for one release. `by` names the flag of the other one. */
export function replacedSetting<T>(
  flag: string,
  env: readonly string[],
  schema: Setting<T>['schema'],
  by: string,
): Setting<T> {
  const deprecated = { instead: `use --${by}`, isIgnored: false };
  return { env, flag, schema, description: `Replaced by --${by}.`, deprecated };
}

/** A deprecated setting that is in use. */
export interface DeprecatedUse extends Deprecation {
  /** Flag or environment variable. */
  readonly name: string;
}

/** Returns the deprecated settings that flags or environment contain. */
export function deprecatedIn(settings: Settings, source: SettingSource): readonly DeprecatedUse[] {
  return Object.values(settings).flatMap((definition) => {
    const { name, text } = find(definition, source);
    return definition.deprecated && text !== undefined ? [{ name, ...definition.deprecated }] : [];
  });
}

/** Settings that are not deprecated. */
export function currentSettings(settings: Settings): Settings {
  return Object.fromEntries(Object.entries(settings).filter(([, each]) => !each.deprecated));
}

/** Reads every setting: flag, else environment, else default. Throws `SettingsError` with all invalid settings. */
export function readSettings<S extends Settings>(settings: S, source: SettingSource): Values<S> {
  const values: Record<string, unknown> = {};
  const problems: SettingProblem[] = [];
  for (const [key, definition] of Object.entries(settings)) {
    const { name, text } = find(definition, source);
    const parsed = definition.schema.safeParse(text);
    if (parsed.success) values[key] = parsed.data;
    else problems.push(problemOf(name, text, definition, parsed.error));
  }
  if (problems.length > 0) throw new SettingsError(problems);
  return values as Values<S>;
}

/** A setting's effective value in this process. */
export interface EffectiveSetting {
  /** Parsed value (durations in milliseconds); `redacted` for a secret; null when unset. */
  readonly value: unknown;
  /** Flag or environment variable behind the value, or `default`. */
  readonly from: string;
}

/** Returns the effective value and its origin for every setting; a deprecated setting only if set. */
export function describeSettings(
  settings: Settings,
  values: Readonly<Record<string, unknown>>,
  source: SettingSource,
): Readonly<Record<string, EffectiveSetting>> {
  return Object.fromEntries(
    Object.entries(settings).flatMap(([key, definition]) => {
      const { name, text } = find(definition, source);
      if (definition.deprecated && text === undefined) return [];
      const value = values[key] ?? null;
      const shown = definition.secret && value !== null ? 'redacted' : withoutUser(value);
      return [[key, { value: shown, from: text === undefined ? 'default' : name }]];
    }),
  );
}

/** Hides URL credentials (the part before @), secret in every setting. */
function hideUser(text: string): string {
  return text.replaceAll(/\/\/[^/@\s]*@/g, '//…@');
}

function withoutUser(value: unknown): unknown {
  return typeof value === 'string' ? hideUser(value) : value;
}

function find(definition: Setting, { env, flags }: SettingSource) {
  const given = flags[definition.flag];
  if (given !== undefined) return { name: `--${definition.flag}`, text: given };
  const name = definition.env.find((candidate) => (env[candidate] ?? '') !== '');
  if (name !== undefined) return { name, text: env[name] };
  const names = [`--${definition.flag}`, ...definition.env.slice(0, 1)];
  return { name: names.join(' or '), text: undefined };
}

function problemOf(
  name: string,
  text: string | undefined,
  { secret, description }: Setting,
  error: z.ZodError,
): SettingProblem {
  const value = secret || text === undefined ? undefined : hideUser(text);
  const shown = value === undefined ? '' : `"${value}" `;
  const why = text === undefined ? 'is required' : error.issues.map((i) => i.message).join('; ');
  return { name, value, message: `${shown}${why} (${firstSentence(description)})` };
}

function firstSentence(text: string): string {
  return text.replace(/\.(\s.*)?$/s, '');
}
