import { counted } from '../counted.ts';
import { particleAfter, particles } from './particles.ts';

/** Text in English and Korean. */
export interface Wording {
  readonly en: string;
  readonly ko: string;
}

export type Language = keyof Wording;

/** Placeholder names in a text: `{link}` is the placeholder `link`. */
export type Placeholders<T extends string> = T extends `${string}{${infer Name}}${infer Rest}`
  ? Name | Placeholders<Rest>
  : never;

/** Values for all placeholders in both languages. */
export type Values<T extends Wording> = Readonly<
  Record<Placeholders<T['en'] | T['ko']>, string | number | Wording>
>;

/** Returns a catalogue text with values. */
export function filled<const T extends Wording>(
  entry: T,
  ...[values]: [Placeholders<T['en'] | T['ko']>] extends [never] ? [] : [Values<T>]
): Wording {
  const all: Readonly<Record<string, string | number | Wording>> = values ?? {};
  return { en: inserted(entry.en, all, 'en'), ko: inserted(entry.ko, all, 'ko') };
}

/** A placeholder with the Korean particle behind it, if any; a longer word, and `이(가)`, is no particle. */
const placeholder = new RegExp(`\\{(\\w+)\\}(?:(${particles})(?![가-힣(]))?`, 'g');

function inserted(
  template: string,
  values: Readonly<Record<string, string | number | Wording>>,
  language: Language,
): string {
  return template.replaceAll(placeholder, (_, name: string, particle: string = '') => {
    const value = values[name] ?? '';
    const text = typeof value === 'object' ? value[language] : String(value);
    return text + particleAfter(text, particle);
  });
}

/** Returns a text with values from an agent; undefined: a placeholder has no value. */
export function filledIfKnown(
  entry: Wording,
  values: Readonly<Record<string, string>>,
): Wording | undefined {
  const names = `${entry.en}${entry.ko}`.matchAll(/\{(\w+)\}/g);
  if ([...names].some(([, name = '']) => !Object.hasOwn(values, name))) return undefined;
  return { en: inserted(entry.en, values, 'en'), ko: inserted(entry.ko, values, 'ko') };
}

/** Returns a number with the English noun; Korean texts write a counter after the placeholder. */
export function amount(count: number, noun: string, plural?: string): Wording {
  return { en: counted(count, noun, plural), ko: String(count) };
}
