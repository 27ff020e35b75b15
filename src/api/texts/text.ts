/** Text in English and Korean. */
export interface Wording {
  readonly en: string;
  readonly ko: string;
}

/** Placeholder names in a text: `{link}` is the placeholder `link`. */
export type Placeholders<T extends string> = T extends `${string}{${infer Name}}${infer Rest}`
  ? Name | Placeholders<Rest>
  : never;

/** Values for all placeholders in both languages. */
export type Values<T extends Wording> = Readonly<
  Record<Placeholders<T['en'] | T['ko']>, string | number | Wording>
>;

/** Returns a catalogue text with values. */
export function text<const T extends Wording>(
  entry: T,
  ...[values]: [Placeholders<T['en'] | T['ko']>] extends [never] ? [] : [Values<T>]
): Wording {
  const all: Readonly<Record<string, string | number | Wording>> = values ?? {};
  return { en: filled(entry.en, all, 'en'), ko: filled(entry.ko, all, 'ko') };
}

function filled(
  template: string,
  values: Readonly<Record<string, string | number | Wording>>,
  language: keyof Wording,
): string {
  return template.replaceAll(/\{(\w+)\}/g, (_, name: string) => {
    const value = values[name] ?? '';
    return typeof value === 'object' ? value[language] : String(value);
  });
}

/** Returns a text with values from an agent; undefined: a placeholder has no value. */
export function textIfKnown(
  entry: Wording,
  values: Readonly<Record<string, string>>,
): Wording | undefined {
  const names = `${entry.en}${entry.ko}`.matchAll(/\{(\w+)\}/g);
  if ([...names].some(([, name = '']) => !Object.hasOwn(values, name))) return undefined;
  return { en: filled(entry.en, values, 'en'), ko: filled(entry.ko, values, 'ko') };
}
