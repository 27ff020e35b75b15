import { rowOf } from '../api/reasons.ts';
import { filled, type Wording } from '../api/texts/text.ts';
import { whyTexts } from '../api/texts/why.ts';

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
  return at ? filled(whyTexts.checkedAt, { at }) : same('');
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
  ['days', 86_400],
  ['hours', 3_600],
  ['minutes', 60],
  ['seconds', 1],
] as const;

/** Returns an age in kubectl's form: the largest unit and, below ten, the next unit. Empty: no time. */
export function ageOf(at: string | undefined, now: Date): Wording {
  const seconds = Math.floor((now.getTime() - Date.parse(at ?? '')) / 1_000);
  if (Number.isNaN(seconds)) return same('');
  const left = Math.max(0, seconds);
  const found = units.findIndex(([, size]) => left >= size);
  const index = found === -1 ? units.length - 1 : found;
  const [unit, size] = units[index] ?? units[3];
  const count = Math.floor(left / size);
  const text = filled(whyTexts[unit], { count });
  const [nextUnit, nextSize] = units[index + 1] ?? [];
  if (count >= 10 || nextUnit === undefined) return text;
  const rest = Math.floor((left - count * size) / nextSize);
  if (rest === 0) return text;
  const { en, ko } = filled(whyTexts[nextUnit], { count: rest });
  return { en: `${text.en}${en}`, ko: `${text.ko} ${ko}` };
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
export function since(at: string | undefined, now: Date, done: Wording): Wording {
  const age = ageOf(at, now);
  return age.en === '' ? age : filled(whyTexts.ago, { done, age });
}
