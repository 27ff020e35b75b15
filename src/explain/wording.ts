import { rowOf } from '../api/reasons.ts';
import type { Wording } from '../api/texts/text.ts';
import { filled } from '../api/texts/text.ts';
import { whyTexts } from '../api/texts/why.ts';

/** Returns a text in both languages. */
export function say(en: string, ko: string): Wording {
  return { en, ko };
}

/** Returns the same text for both languages, such as a name list. */
export function same(text: string): Wording {
  return { en: text, ko: text };
}

/** Returns a part's English message, plus the reason's meaning in Korean. */
export function ofMessage(reason: string, message: string | undefined): Wording {
  const row = rowOf(reason);
  if (!message) return row?.meaning ?? same(reason);
  return { en: message, ko: row ? `${row.meaning.ko} (${message})` : message };
}

/** Returns " (checked at TIME)"; empty: the time is unknown. */
export function checkTime(at: string | undefined): Wording {
  return at ? say(` (checked at ${at})`, ` (${at} 확인)`) : same('');
}

/** Joins texts without a separator. */
export function followed(...texts: readonly Wording[]): Wording {
  return joined(texts, '');
}

/** Joins texts with a separator. */
export function joined(texts: readonly Wording[], separator = '; '): Wording {
  return {
    en: texts.map(({ en }) => en).join(separator),
    ko: texts.map(({ ko }) => ko).join(separator),
  };
}

const units = [
  ['d', '일', 86_400],
  ['h', '시간', 3_600],
  ['m', '분', 60],
  ['s', '초', 1],
] as const;

/** Returns an age in kubectl's form: the largest unit and, below ten, the next unit. Empty: no time. */
export function ageOf(at: string | undefined, now: Date): Wording {
  const seconds = Math.floor((now.getTime() - Date.parse(at ?? '')) / 1_000);
  if (Number.isNaN(seconds)) return same('');
  const left = Math.max(0, seconds);
  const found = units.findIndex(([, , size]) => left >= size);
  const index = found === -1 ? units.length - 1 : found;
  const [en, ko, size] = units[index] ?? units[3];
  const count = Math.floor(left / size);
  const [nextEn, nextKo, nextSize] = units[index + 1] ?? ['', '', Infinity];
  const rest = count < 10 ? Math.floor((left - count * size) / nextSize) : 0;
  return rest > 0
    ? say(`${count}${en}${rest}${nextEn}`, `${count}${ko} ${rest}${nextKo}`)
    : filled(whyTexts.checkedAt, { count, text: { en, ko } });
}

/** Returns "; next try at TIME (in AGE)"; empty: the time is unknown. */
export function nextTry(at: string | undefined, now: Date): Wording {
  const left = at === undefined ? undefined : ageOf(now.toISOString(), new Date(at));
  if (at === undefined || left === undefined || left.en === '') return same('');
  return Date.parse(at) <= now.getTime()
    ? filled(whyTexts.nextTryDue, { at })
    : filled(whyTexts.nextTryAt, { at, left });
}

/** Returns " (VERB AGE ago)"; empty: the time is unknown. */
export function since(
  at: string | undefined,
  now: Date,
  [en, ko]: readonly [en: string, ko: string],
): Wording {
  const age = ageOf(at, now);
  return age.en === '' ? age : filled(whyTexts.ago, { done: { en, ko }, age });
}
