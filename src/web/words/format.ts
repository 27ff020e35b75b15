import type { Language, Wording } from '../../api/texts/text.ts';
import { language } from './language.ts';

const units = [
  ['day', 86_400],
  ['hour', 3_600],
  ['minute', 60],
  ['second', 1],
] as const;

/** Formatters are slow to create: a table has hundreds of times. */
function perLanguage<T>(create: (language: Language) => T): () => T {
  const created = new Map<Language, T>();
  return () => {
    const key = language.value;
    const found = created.get(key) ?? create(key);
    created.set(key, found);
    return found;
  };
}

const relative = perLanguage(
  (key) => new Intl.RelativeTimeFormat(key, { numeric: 'always', style: 'narrow' }),
);
const absolute = perLanguage(
  (key) => new Intl.DateTimeFormat(key, { dateStyle: 'medium', timeStyle: 'medium' }),
);
const zoned = perLanguage(
  (key) => new Intl.DateTimeFormat(key, { dateStyle: 'full', timeStyle: 'long' }),
);
const decimal = perLanguage((key) => new Intl.NumberFormat(key));

/** Returns "4s ago" or "in 5m"; both times are milliseconds since 1970. */
export function relativeTime(atMs: number, nowMs: number): string {
  const seconds = Math.round((atMs - nowMs) / 1_000);
  const [unit, size] = units.find(([, each]) => Math.abs(seconds) >= each) ?? ['second', 1];
  return relative().format(Math.trunc(seconds / size), unit);
}

/** Returns date and time in the time zone of the browser. */
export function dateTime(atMs: number): string {
  return absolute().format(atMs);
}

/** Returns date, time and time zone. */
export function fullDateTime(atMs: number): string {
  return zoned().format(atMs);
}

export function number(value: number): string {
  return decimal().format(value);
}

/** Returns a number with the English noun; Korean texts write a counter after the placeholder. */
export function quantity(count: number, noun: string): Wording {
  const text = number(count);
  return { en: `${text} ${noun}${count === 1 ? '' : 's'}`, ko: text };
}
