import * as z from 'zod';
import { parseDuration } from './duration.ts';

// What a setting may hold: each schema parses the text as a user writes it.

/** Any text that is not blank; surrounding blanks are dropped. */
export function nonBlank() {
  return z.string().trim().min(1, 'must not be blank');
}

/** Absolute http or https URL; a trailing slash is dropped. */
export function url() {
  return z
    .string()
    .refine(isHttpUrl, 'must be a URL such as https://viola.example:8080')
    .transform((value) => value.replace(/\/+$/, ''));
}

/** `host:port` or `:port` to listen on. */
export function address() {
  return z
    .string()
    .regex(
      /^(\[[0-9a-f:]+\]|[^:\s]*):\d{1,5}$/i,
      'must be an address such as 127.0.0.1:8080 or :8080',
    )
    .transform(toAddress);
}

/** One of a few words. */
export function oneOf<const Words extends readonly string[]>(words: Words) {
  return z.enum(words, { error: `must be one of ${words.join(', ')}` });
}

/** Whole number within bounds. */
export function integer(min: number, max: number) {
  return z
    .string()
    .refine((value) => /^-?\d+$/.test(value), 'must be a whole number')
    .transform(Number)
    .refine((value) => value >= min && value <= max, `must be between ${min} and ${max}`);
}

/** true or false, also 1, 0, yes, no, on, off. */
export function boolean() {
  return z
    .string()
    .refine((value) => value.toLowerCase() in truth, 'must be true or false')
    .transform((value) => truth[value.toLowerCase() as keyof typeof truth]);
}

/** Milliseconds of a Go duration such as 500ms, 30s, 2m or 1h30m, at least `minMs`. */
export function duration({ minMs = 1 }: { readonly minMs?: number } = {}) {
  return z
    .string()
    .transform((value) => parseDuration(value) ?? Number.NaN)
    .refine((ms) => !Number.isNaN(ms), {
      message: 'must be a duration such as 30s or 2m',
      abort: true,
    })
    .refine((ms) => ms >= minMs, `must be at least ${minMs} ms`);
}

const truth = {
  true: true,
  false: false,
  '1': true,
  '0': false,
  yes: true,
  no: false,
  on: true,
  off: false,
} as const;

function isHttpUrl(value: string): boolean {
  return URL.canParse(value) && /^https?:$/.test(new URL(value).protocol);
}

function toAddress(value: string): { readonly host: string; readonly port: number } {
  const at = value.lastIndexOf(':');
  const host = value.slice(0, at).replace(/^\[|\]$/g, '');
  return { host: host === '' ? '0.0.0.0' : host, port: Number(value.slice(at + 1)) };
}
