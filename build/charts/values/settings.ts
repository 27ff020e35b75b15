import * as z from 'zod';
import type { Deprecation, Setting, Settings } from '../../../src/process/settings.ts';
import { type TypedSetting, typed } from '../setting-form.ts';
import { text } from './describe.ts';

/** `leaseDurationMs` is a number inside a part; values have a unit: `leaseDuration: 15s`. */
export function valueKey(key: string): string {
  return key.replace(/Ms$/, '');
}

interface PartSettings {
  readonly description: string;
  /** Settings that the chart computes, with the source. */
  readonly decided: Readonly<Record<string, string>>;
}

/** Non-secret settings of a part, as typed values. */
export function settingValues(settings: Settings, { description, decided }: PartSettings) {
  const unknown = Object.keys(decided).filter((key) => !Object.hasOwn(settings, key));
  if (unknown.length > 0) throw new Error(`there is no setting ${unknown.join(', ')}`);
  const shown = Object.entries(settings).filter(([, { secret = false }]) => !secret);
  // Values of removed settings stay in the schema for a release, because Helm refuses unknown values.
  const shape = Object.fromEntries(
    shown.map(([key, setting]) => [valueKey(key), valueOf(setting, decided[key]).optional()]),
  );
  return z.strictObject(shape).describe(description).default({});
}

/** Where the secrets among the settings of a part are. */
export function secretSettingValues(settings: Settings, description: string) {
  const secrets = Object.entries(settings).filter(([, { secret = false }]) => secret);
  const shape = Object.fromEntries(
    secrets.map(([key, setting]) => {
      const place = z.strictObject({ name: text(), key: text() });
      return [valueKey(key), place.describe(setting.description).optional()];
    }),
  );
  return z.strictObject(shape).describe(description).default({});
}

function valueOf(setting: Setting, decided: string | undefined): z.ZodType {
  const { form, fallback } = typed(setting);
  const { deprecated } = setting;
  if (deprecated) {
    const schema = deprecated.isIgnored ? anyScalar : formSchema(form);
    return schema.meta({ description: deprecationOf(deprecated), deprecated: true });
  }
  // A list is a list here.
  const description = setting.description.replace(' (comma-separated)', '');
  if (decided !== undefined) {
    return formSchema(form).meta({
      description: `${description} Default of the chart: ${decided}.`,
    });
  }
  return formSchema(form).meta(
    fallback === undefined ? { description } : { description, default: fallback },
  );
}

/** A removed setting accepts every former value. */
const anyScalar = z.union([z.string(), z.number(), z.boolean()]);

/** Returns the deprecation text for NOTES and the values page. */
export function deprecationOf({ instead, isIgnored }: Deprecation): string {
  return `${isIgnored ? 'Removed, has no effect' : 'Deprecated'}: ${withKeys(instead)}.`;
}

/** Names flags as the keys of values: `--api-tls-cert` is `apiTlsCert`. */
function withKeys(sentence: string): string {
  return sentence.replace(/--([a-z-]+)/g, (_, flag: string) =>
    flag.replace(/-(\w)/g, (__, letter: string) => letter.toUpperCase()),
  );
}

const unit = String.raw`\d+(\.\d+)?(ns|us|µs|ms|s|m|h)`;

function formSchema(form: TypedSetting['form']): z.ZodType {
  if (form.kind === 'integer') return z.int().min(form.min).max(form.max);
  if (form.kind === 'integerOrPercent') {
    const percent = z.string().regex(/^([1-9]\d?|100)%$/);
    return z.union([z.int().min(form.min).max(form.max), percent]);
  }
  if (form.kind === 'choice') return z.enum(form.words);
  if (form.kind === 'text') return z.string().regex(new RegExp(form.pattern ?? '\\S'));
  return byKind[form.kind]();
}

type PlainKind = Exclude<
  TypedSetting['form']['kind'],
  'integer' | 'integerOrPercent' | 'choice' | 'text'
>;

const byKind: Readonly<Record<PlainKind, () => z.ZodType>> = {
  boolean: () => z.boolean(),
  // A comma would split the element.
  list: () => z.array(z.string().regex(/^[^,]+$/)),
  duration: () => z.string().regex(new RegExp(`^((${unit})+|0)$`)),
  url: () => z.string().regex(/^https?:\/\/[^\s/]+/),
  address: () => z.string().regex(/^(\[[0-9A-Fa-f:]+\]|[^:\s]*):\d{1,5}$/),
};
