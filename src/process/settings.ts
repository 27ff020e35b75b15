import type * as z from 'zod';

/** One setting of a part: where it comes from, what it may be, and what it is for. */
export interface Setting<T = unknown> {
  /** Environment variables, first one that is set wins; later names are those of earlier generations. */
  readonly env: readonly string[];
  /** Command-line flag without the leading dashes; wins over the environment. */
  readonly flag: string;
  /** Parses the text as a user writes it; a default in the schema is what holds when nobody sets it. */
  readonly schema: z.ZodType<T, string | undefined>;
  readonly description: string;
  /** A secret is never echoed, not even when it is wrong. */
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

/** One setting that cannot be used. */
export interface SettingProblem {
  readonly name: string;
  readonly value: string | undefined;
  readonly message: string;
}

/** All settings of a part that cannot be used; the message has one line for each. */
export class SettingsError extends Error {
  readonly problems: readonly SettingProblem[];
  constructor(problems: readonly SettingProblem[]) {
    super(problems.map(({ name, message }) => `${name}: ${message}`).join('\n'));
    this.name = 'SettingsError';
    this.problems = problems;
  }
}

/** Keeps the literal type of one setting. */
export function setting<T>(definition: Setting<T>): Setting<T> {
  return definition;
}

/** Reads every setting: flag, else environment, else default. Throws `SettingsError` that names all bad ones. */
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

/** A setting as it holds in a process. */
export interface EffectiveSetting {
  /** As it was parsed (durations are milliseconds); `redacted` in the place of a secret; null when there is none. */
  readonly value: unknown;
  /** The flag or environment variable that said so, or `default`. */
  readonly from: string;
}

/** Every setting with the value that was read for it, and where that comes from. */
export function describeSettings(
  settings: Settings,
  values: Readonly<Record<string, unknown>>,
  source: SettingSource,
): Readonly<Record<string, EffectiveSetting>> {
  return Object.fromEntries(
    Object.entries(settings).map(([key, definition]) => {
      const { name, text } = find(definition, source);
      const value = values[key] ?? null;
      const shown = definition.secret && value !== null ? 'redacted' : withoutUser(value);
      return [key, { value: shown, from: text === undefined ? 'default' : name }];
    }),
  );
}

/** What stands before the @ of a URL is a secret in any setting. */
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
  return { name, value, message: `${shown}${why} (${description})` };
}
