import type * as z from 'zod';
import type { Problem } from '../../model/accepted.ts';
import { unusable, unusableSecret } from './checked.ts';

/** A parsed part of the spec; no value if a field has the wrong type. */
export type Reading<T> =
  | { readonly value: T; readonly problems: readonly [] }
  | { readonly value?: undefined; readonly problems: readonly Problem[] };

/** Parses a part of the spec. An API server with an older or missing schema stores values of any type. */
export function read<T>(schema: z.ZodType<T>, raw: unknown, field: string): Reading<T> {
  const value = withoutNulls(raw);
  const parsed = schema.safeParse(value);
  if (parsed.success) return { value: parsed.data, problems: [] };
  return { problems: parsed.error.issues.map((issue) => problemOf(issue, value, field)) };
}

/** Returns one field of an object; undefined for non-objects. */
export function fieldOf(raw: unknown, name: string): unknown {
  return isObject(raw) && Object.hasOwn(raw, name) ? raw[name] : undefined;
}

export function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Null means absent, as for the API server. */
function withoutNulls(value: unknown): unknown {
  if (value === null) return undefined;
  if (Array.isArray(value)) return value.map((one: unknown) => withoutNulls(one));
  if (!isObject(value)) return value;
  const present = Object.entries(value).filter(([, one]) => one !== null);
  return Object.fromEntries(present.map(([key, one]) => [key, withoutNulls(one)]));
}

function problemOf(issue: z.core.$ZodIssue, raw: unknown, field: string): Problem {
  const path = issue.path.map(String);
  const whole = path.reduce(
    (text, step) => (/^\d+$/.test(step) ? `${text}[${step}]` : `${text}.${step}`),
    field,
  );
  const what = `cannot be used (${issue.message}); correct it, or leave it out`;
  if (isSecret(path)) return unusableSecret(whole, what);
  const value = path.reduce<unknown>(
    (at, step) => (Array.isArray(at) ? at[Number(step)] : fieldOf(at, step)),
    raw,
  );
  return unusable(whole, value, what);
}

/** True for passwords and values of environment variables. */
function isSecret(path: readonly string[]): boolean {
  const last = path.at(-1) ?? '';
  return /password/i.test(last) || (last === 'value' && path.includes('env'));
}
