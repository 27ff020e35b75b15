import type { Language } from '../../api/texts/text.ts';
import { words } from '../../api/texts/titles.ts';
import type { NextStep } from '../../explain/step.ts';

/** Returns a next step in a single line: a preview before commands, commands before text unless a correction comes first. */
export function nextLine(
  { text, commands, preview, isAfterText = false }: NextStep,
  lang: Language,
): string {
  const [list] = [preview, commands].filter((each) => each.length > 0);
  if (!list) return text[lang];
  const line = list.join(words.afterwards[lang]);
  return isAfterText ? `${text[lang]} ${line}` : line;
}
