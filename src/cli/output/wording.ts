import { words } from '../../api/texts/titles.ts';
import type { NextStep } from '../../explain/step.ts';
import type { Language } from '../options.ts';

/** Returns a next step in one line: a preview before commands, commands before text. */
export function nextLine({ text, commands, preview }: NextStep, lang: Language): string {
  const [list] = [preview, commands].filter((each) => each.length > 0);
  return list ? list.join(words.afterwards[lang]) : text[lang];
}
