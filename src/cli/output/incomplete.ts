import { screensTexts } from '../../api/texts/screens.ts';
import { filled, type Language } from '../../api/texts/text.ts';
import { words } from '../../api/texts/titles.ts';
import type { UnreadSource } from '../../explain/conclusion.ts';
import type { Incomplete } from '../report.ts';
import { printable } from './width.ts';

/** Returns a line per required source without an answer, with next steps below. */
export function incompleteLines(unread: readonly UnreadSource[], lang: Language): string[] {
  return unread.flatMap(({ source, place, why, next }) => [
    printable(filled(screensTexts.incomplete, { source, place, why })[lang]),
    ...next.map((each) => `  ${words.next[lang]} ${printable(each[lang])}`),
  ]);
}

/** Returns the sources for JSON, with texts in a single language. */
export function incompleteObjects(unread: readonly UnreadSource[], lang: Language): Incomplete[] {
  return unread.map(({ source, place, why, next }) => ({
    source,
    place,
    why: why[lang],
    next: next.map((each) => each[lang]),
  }));
}
