import { screensTexts } from '../../api/texts/screens.ts';
import { filled } from '../../api/texts/text.ts';
import { type Fact, missingText } from '../../explain/fact.ts';
import { Unread } from '../access/unread.ts';

/** Returns a fact's value. Throws Unread: without this fact a command or screen has nothing to show. */
export function required<T>(fact: Fact<T>): T {
  if (fact.state === 'read') return fact.value;
  const { why, next, required: access } = fact;
  const text = access ? filled(screensTexts.sourceUnread, { ...access, why }) : missingText(fact);
  throw new Unread(text, next);
}
