import type { Wording } from '../../api/texts/text.ts';
import type { NextStep } from '../../explain/step.ts';
import type { Language } from '../options.ts';

/** Words of the screens in both languages. */
export const words = {
  next: { en: 'Next:', ko: '다음 조치:' },
  preview: { en: 'Preview it first:', ko: '먼저 미리 보기:' },
  afterwards: { en: ', then ', ko: ', 그다음 ' },
  ok: { en: 'ok', ko: '정상' },
  warn: { en: 'warn', ko: '주의' },
  fail: { en: 'FAIL', ko: '실패' },
  skip: { en: 'skip', ko: '생략' },
  info: { en: 'info', ko: '정보' },
} as const satisfies Record<string, Wording>;

/** Returns a next step in one line: a preview before commands, commands before text. */
export function nextLine({ text, commands, preview }: NextStep, lang: Language): string {
  const [list] = [preview, commands].filter((each) => each.length > 0);
  return list ? list.join(words.afterwards[lang]) : text[lang];
}
