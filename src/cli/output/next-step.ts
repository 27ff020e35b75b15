import type { Language } from '../../api/texts/text.ts';
import { words } from '../../api/texts/titles.ts';
import type { NextStep } from '../../explain/step.ts';
import { printable } from './width.ts';

/** Returns a next step with a line per command. */
export function nextStepLines({ text, commands, preview }: NextStep, lang: Language): string[] {
  return [
    `${words.next[lang]} ${printable(text[lang])}`,
    ...commands.map((command) => `  ${printable(command)}`),
    ...(preview.length > 0 ? [words.preview[lang]] : []),
    ...preview.map((command) => `  ${printable(command)}`),
  ];
}
