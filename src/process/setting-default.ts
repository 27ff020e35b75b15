import * as z from 'zod';
import type { Setting } from './settings.ts';

/** Returns the default of a schema as a user writes it; undefined: the schema has none. */
export function defaultOf(schema: z.core.$ZodType): string | undefined {
  if (schema instanceof z.ZodPrefault || schema instanceof z.ZodDefault) {
    return String(schema.def.defaultValue);
  }
  if (schema instanceof z.ZodOptional) return defaultOf(schema.def.innerType);
  if (schema instanceof z.ZodPipe) return defaultOf(schema.def.in) ?? defaultOf(schema.def.out);
  return undefined;
}

/** Returns what `--help` and the reference show as the default of a setting: its text, `none` or `required`. */
export function shownDefault({ schema }: Pick<Setting, 'schema'>): string {
  if (!schema.safeParse(undefined).success) return 'required';
  return defaultOf(schema) || 'none';
}
