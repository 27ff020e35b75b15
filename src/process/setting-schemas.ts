import * as z from 'zod';
import { maxSleepMs } from '../time/clock.ts';
import { parseDuration } from './duration.ts';

// Schemas for setting values: each schema parses text as users write it.

/** A setting's type where values are typed, such as in chart values. */
export type SettingForm =
  | { readonly kind: 'boolean' | 'duration' | 'url' | 'address' | 'list' }
  | {
      readonly kind: 'integer' | 'integerOrPercent';
      readonly min: number;
      readonly max: number;
    };

/** Types for all schemas except plain text and enumerations. */
export const forms = z.registry<SettingForm>();

/** Non-blank text; surrounding blanks are dropped. */
export function nonBlank() {
  return z.string().trim().min(1, 'must not be blank');
}

/** Absolute http or https base URL; a trailing slash is dropped. */
export function url() {
  return z
    .string()
    .trim()
    .refine(isHttpUrl, 'must be a URL such as https://viola.example:8080')
    .transform((value) => value.replace(/\/+$/, ''))
    .register(forms, { kind: 'url' });
}

/** Proxy URL, optionally with user and password. */
export function proxyUrl() {
  return z
    .string()
    .trim()
    .refine(isProxyUrl, 'must be a URL such as http://proxy.example:3128')
    .register(forms, { kind: 'url' });
}

/** `host:port`, or `:port` for all IPv4 and IPv6 addresses, as in Go. */
export function address() {
  return z
    .string()
    .trim()
    .regex(
      /^(\[[0-9a-f:]+\]|[^:\s]*):\d{1,5}$/i,
      'must be an address such as 127.0.0.1:8080 or :8080',
    )
    .transform(toAddress)
    .refine(({ port }) => port <= 65_535, 'must have a port up to 65535')
    .register(forms, { kind: 'address' });
}

/** One word from a fixed list. */
export function oneOf<const Words extends readonly string[]>(words: Words) {
  return z.enum(words, { error: `must be one of ${words.join(', ')}` });
}

/** Whole number within bounds. */
export function integer(min: number, max: number) {
  return z
    .string()
    .trim()
    .refine((value) => /^-?\d+$/.test(value), 'must be a whole number')
    .transform(Number)
    .refine((value) => value >= min && value <= max, `must be between ${min} and ${max}`)
    .register(forms, { kind: 'integer', min, max });
}

/** A percentage, such as 10%. */
export type Percent = `${number}%`;

function isPercent(value: string): value is Percent {
  return /^([1-9]\d?|100)%$/.test(value);
}

/** Whole number within bounds, or a percentage from 1% to 100%. */
export function integerOrPercent(min: number, max: number) {
  const isWithin = (value: string): boolean =>
    /^\d+$/.test(value) && Number(value) >= min && Number(value) <= max;
  return z
    .string()
    .trim()
    .refine(
      (value) => isPercent(value) || isWithin(value),
      `must be between ${min} and ${max}, or a percentage from 1% to 100%`,
    )
    .transform((value): number | Percent => (isPercent(value) ? value : Number(value)))
    .register(forms, { kind: 'integerOrPercent', min, max });
}

/** true or false, also 1, 0, yes, no, on, off. */
export function boolean() {
  return z
    .string()
    .trim()
    .transform((value) => truth.get(value.toLowerCase()))
    .refine((value) => value !== undefined, 'must be true or false')
    .transform(Boolean)
    .register(forms, { kind: 'boolean' });
}

/** Go duration such as 500ms, 30s, 2m or 1h30m, at least `minMs`; parsed to milliseconds. */
export function duration({ minMs = 1 }: { readonly minMs?: number } = {}) {
  return z
    .string()
    .transform((value) => parseDuration(value) ?? Number.NaN)
    .refine((ms) => !Number.isNaN(ms), {
      message: 'must be a duration such as 30s or 2m',
      abort: true,
    })
    .refine((ms) => ms >= minMs, `must be at least ${minMs} ms`)
    .refine((ms) => ms <= maxSleepMs, 'must be at most 596h, the longest timer')
    .register(forms, { kind: 'duration' });
}

const truth: ReadonlyMap<string, boolean> = new Map([
  ...['true', '1', 'yes', 'on'].map((word) => [word, true] as const),
  ...['false', '0', 'no', 'off'].map((word) => [word, false] as const),
]);

/** Refuses user, query and fragment: paths are appended to the URL. */
function isHttpUrl(value: string): boolean {
  if (!URL.canParse(value)) return false;
  const { protocol, username, password, search, hash } = new URL(value);
  return /^https?:$/.test(protocol) && username + password + search + hash === '';
}

function isProxyUrl(value: string): boolean {
  return URL.canParse(value) && /^https?:$/.test(new URL(value).protocol);
}

function toAddress(value: string): { readonly host: string; readonly port: number } {
  const at = value.lastIndexOf(':');
  const host = value.slice(0, at).replace(/^\[|\]$/g, '');
  // For an empty host Node.js listens on [::], and on 0.0.0.0 if the kernel has no IPv6.
  return { host, port: Number(value.slice(at + 1)) };
}
