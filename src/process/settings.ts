import type * as z from 'zod';

/** A part's setting: sources, allowed values and purpose. */
export interface Setting<T = unknown> {
  /** Environment variables; the first non-empty one wins. Later names are from earlier generations. */
  readonly env: readonly string[];
  /** Command-line flag without leading dashes; wins over the environment. */
  readonly flag: string;
  /** Parses text as users write it; includes the default, if any. */
  readonly schema: z.ZodType<T, string | undefined>;
  readonly description: string;
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

/** Returns the effective value and its origin for every setting. */
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
  return { name, value, message: `${shown}${why} (${description})` };
}
