import type { Wording } from '../api/reasons/reason-row.ts';
import { reasons } from '../api/reasons.ts';

/** Returns a text in both languages. */
export function say(en: string, ko: string): Wording {
  return { en, ko };
}

/** Returns a text that is the same in both languages, such as a list of names. */
export function same(text: string): Wording {
  return { en: text, ko: text };
}

/** Returns the row of a reason; undefined: a later version of a part reported it. */
export function rowOf(reason: string) {
  return Object.hasOwn(reasons, reason) ? reasons[reason as keyof typeof reasons] : undefined;
}

/** Returns a part's message, which is English, with the meaning of its reason in Korean. */
export function ofMessage(reason: string, message: string | undefined): Wording {
  const row = rowOf(reason);
  if (!message) return row?.meaning ?? same(reason);
  return { en: message, ko: row ? `${row.meaning.ko} (${message})` : message };
}

/** Returns the texts as one, separated by semicolons. */
export function joined(texts: readonly Wording[]): Wording {
  return {
    en: texts.map(({ en }) => en).join('; '),
    ko: texts.map(({ ko }) => ko).join('; '),
  };
}

/** Returns a number with its noun: "1 NIC", "2 NICs". */
export function counted(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? '' : 's'}`;
}

const units = [
  ['d', 86_400],
  ['h', 3_600],
  ['m', 60],
  ['s', 1],
] as const;

/** Returns an age as kubectl shows it: the largest unit, and the next one below ten of it. Empty: no time. */
export function ageOf(at: string | undefined, now: Date): string {
  const seconds = Math.floor((now.getTime() - Date.parse(at ?? '')) / 1_000);
  if (Number.isNaN(seconds)) return '';
  const left = Math.max(0, seconds);
  const unit = Math.max(
    0,
    units.findIndex(([, size]) => left >= size),
  );
  const [name, size] = left === 0 ? (['s', 1] as const) : (units[unit] ?? (['s', 1] as const));
  const count = Math.floor(left / size);
  const [nextName, nextSize] = units[unit + 1] ?? ['', Infinity];
  const rest = Math.floor((left - count * size) / nextSize);
  return count < 10 && rest > 0 && nextName
    ? `${count}${name}${rest}${nextName}`
    : `${count}${name}`;
}

/** Returns " (VERB AGE ago)"; empty: the time is unknown. */
export function since(
  at: string | undefined,
  now: Date,
  [en, ko]: readonly [en: string, ko: string],
): Wording {
  const age = ageOf(at, now);
  return age === '' ? same('') : say(` (${en} ${age} ago)`, ` (${age} 전 ${ko})`);
}
