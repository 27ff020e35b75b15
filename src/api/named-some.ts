import { counted } from './counted.ts';

interface Form {
  /** Between the texts. */
  readonly separator?: string;
  /** Before the count. */
  readonly before?: string;
  /** Noun in the singular after "more"; undefined: no noun. */
  readonly noun?: string;
}

/** Returns the first `most` texts and a count, such as "a, b and 3 more". */
export function namedSome(
  texts: readonly string[],
  most: number,
  { separator = ', ', before = ' and ', noun }: Form = {},
): string {
  const shown = texts.slice(0, most).join(separator);
  const rest = texts.length - most;
  if (rest <= 0) return shown;
  const more = noun === undefined ? `${rest} more` : counted(rest, `more ${noun}`);
  return `${shown}${before}${more}`;
}

/** Returns `namedSome` in Korean, such as "a, b 외 3개". */
export function namedSomeInKorean(texts: readonly string[], most: number): string {
  const shown = texts.slice(0, most).join(', ');
  return texts.length > most ? `${shown} 외 ${texts.length - most}개` : shown;
}
