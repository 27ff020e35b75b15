import { argsOf } from '../api/args.ts';
import type { NicView } from '../api/read-http.ts';
import { nicCodeTexts } from '../api/texts/nic-codes.ts';
import { filledIfKnown, type Wording } from '../api/texts/text.ts';
import { ofMessage } from './wording.ts';

/** Returns the code's explanation; undefined: no code, a newer code, or missing values. */
function codeText({ code, args }: Pick<NicView, 'code' | 'args'>): Wording | undefined {
  if (code === undefined || !Object.hasOwn(nicCodeTexts, code)) return undefined;
  return filledIfKnown(nicCodeTexts[code as keyof typeof nicCodeTexts], argsOf(args));
}

/** Returns the agent's message in English, and the code's explanation in Korean. */
export function ofNic(reason: string, nic: Pick<NicView, 'message' | 'code' | 'args'>): Wording {
  const words = ofMessage(reason, nic.message);
  return { en: words.en, ko: codeText(nic)?.ko ?? words.ko };
}
