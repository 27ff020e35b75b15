import * as z from 'zod';
import { defaultOf } from '../../src/process/setting-default.ts';
import { forms, type SettingForm } from '../../src/process/setting-schemas.ts';
import type { Setting } from '../../src/process/settings.ts';

/** Form of a setting in typed values, and default. */
export interface TypedSetting {
  readonly form: SettingForm | Text | Choice;
  /** Typed default; undefined: none. */
  readonly fallback: Value | undefined;
}

interface Text {
  readonly kind: 'text';
  /** undefined: any non-blank text. */
  readonly pattern?: string;
}

interface Choice {
  readonly kind: 'choice';
  readonly words: readonly string[];
}

/** Form of a setting in a values file. */
export type Value = string | number | boolean | readonly string[];

/** Returns the form of a setting, derived from the schema that parses the text. */
export function typed({ schema }: Setting): TypedSetting {
  const form = look(schema) ?? { kind: 'text' };
  const fallback = defaultOf(schema);
  // A schema does not state that the parser splits at commas: parse a sample with commas. Schemas that refuse every text get an address as
  // sample.
  const isList = Array.isArray(schema.safeParse(fallback ?? '10.0.0.0/8').data);
  const found: TypedSetting['form'] = isList ? { kind: 'list' } : form;
  return { form: found, fallback: fallback === undefined ? undefined : valueOf(fallback, found) };
}

const wrappers = [z.ZodDefault, z.ZodPrefault, z.ZodOptional] as const;

/** Unwraps the schema from defaults and transforms. */
function look(schema: z.core.$ZodType): TypedSetting['form'] | undefined {
  const form = schema instanceof z.ZodType ? forms.get(schema) : undefined;
  if (form) return form;
  if (wrappers.some((wrapper) => schema instanceof wrapper)) {
    return look((schema as z.ZodOptional).def.innerType);
  }
  if (schema instanceof z.ZodPipe) return look(schema.def.out) ?? look(schema.def.in);
  if (schema instanceof z.ZodString) {
    const { pattern } = z.toJSONSchema(schema);
    return pattern ? { kind: 'text', pattern } : undefined;
  }
  if (schema instanceof z.ZodEnum) {
    return { kind: 'choice', words: Object.values(schema.def.entries).map(String) };
  }
  return undefined;
}

function valueOf(text: string, { kind }: TypedSetting['form']): Value {
  if (kind === 'integer') return Number(text);
  if (kind === 'integerOrPercent') return /^\d+$/.test(text) ? Number(text) : text;
  if (kind === 'boolean') return text === 'true';
  if (kind === 'list') return text === '' ? [] : text.split(',');
  return text;
}
