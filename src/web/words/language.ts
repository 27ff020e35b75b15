import { signal } from '@preact/signals';
import type { Language, Wording } from '../../api/texts/text.ts';

export const languages: readonly Language[] = ['en', 'ko'];

/** Language on the page. */
export const language = signal<Language>('en');

/** Returns the text in the language on the page. */
export function say(text: Wording): string {
  return text[language.value];
}

/** Returns the first language of the browser that the page has; default English. */
export function preferredLanguage(browserLanguages: readonly string[]): Language {
  const wanted = browserLanguages.map((each) => each.slice(0, 2).toLowerCase());
  return (
    languages.find((each) => each === wanted.find((one) => one === 'en' || one === 'ko')) ?? 'en'
  );
}
