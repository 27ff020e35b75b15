import { argsOf } from '../api/args.ts';
import type { NicView } from '../api/read-http.ts';
import { nicCodeTexts, nicSourceText } from '../api/texts/nic-codes.ts';
import { filledIfKnown, type Wording, filled as withValues } from '../api/texts/text.ts';
import { ofMessage } from './wording.ts';

/** Returns the code's explanation; undefined: no code, a newer code, or missing values. */
function codeText({ code, args }: Pick<NicView, 'code' | 'args'>): Wording | undefined {
  if (code === undefined || !Object.hasOwn(nicCodeTexts, code)) return undefined;
  const values = argsOf(args);
  const text = nicCodeTexts[code as keyof typeof nicCodeTexts];
  const filled = filledIfKnown(text, values);
  // The text itself names the path where the file is the case.
  const { path, section } = values;
  const source = [text.ko.includes('{path}') ? undefined : path, section].filter(Boolean).join(' ');
  return filled && source ? withValues(nicSourceText, { text: filled, source }) : filled;
}

/** Returns the agent's message in English, and the code's explanation in Korean. */
export function ofNic(reason: string, nic: Pick<NicView, 'message' | 'code' | 'args'>): Wording {
  const words = ofMessage(reason, nic.message);
  return { en: words.en, ko: codeText(nic)?.ko ?? words.ko };
}
