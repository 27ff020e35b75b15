import type { Wording } from '../../api/texts/text.ts';
import { signTexts } from './page-texts.ts';

/** Colour of a sign. The symbol and the word say the same without colour. */
type Tone = 'good' | 'busy' | 'bad' | 'warn' | 'plain';

export interface Sign {
  readonly symbol: string;
  readonly tone: Tone;
  readonly word: Wording;
}

type SignName = keyof typeof signTexts;

const kinds: Readonly<Record<SignName, readonly [symbol: string, tone: Tone]>> = {
  Configured: ['●', 'good'],
  InProgress: ['◐', 'busy'],
  Pending: ['◌', 'busy'],
  Failed: ['✖', 'bad'],
  Observed: ['◎', 'plain'],
  Unknown: ['?', 'plain'],
  Unused: ['○', 'plain'],
  Drifted: ['△', 'warn'],
  Primary: ['◇', 'plain'],
  Other: ['◇', 'plain'],
  True: ['●', 'good'],
  False: ['✖', 'bad'],
  ok: ['●', 'good'],
  warn: ['△', 'warn'],
  fail: ['✖', 'bad'],
  info: ['○', 'plain'],
  skipped: ['?', 'plain'],
  notReached: ['○', 'plain'],
  error: ['✖', 'bad'],
  warning: ['△', 'warn'],
  good: ['●', 'good'],
  wrong: ['✖', 'bad'],
  incomplete: ['?', 'plain'],
  failing: ['✖', 'bad'],
  unknown: ['?', 'plain'],
  open: ['●', 'good'],
  connecting: ['◐', 'busy'],
  lost: ['✖', 'bad'],
  unused: ['○', 'plain'],
  done: ['●', 'good'],
  running: ['◐', 'busy'],
  failed: ['✖', 'bad'],
  waiting: ['◌', 'busy'],
  stopped: ['△', 'warn'],
  canary: ['◐', 'busy'],
  wave: ['◐', 'busy'],
  rest: ['◐', 'busy'],
  Down: ['△', 'warn'],
  Ready: ['●', 'good'],
  NotReady: ['✖', 'bad'],
  paused: ['△', 'warn'],
};

/** Returns the sign for a state, result or severity; a later server's word stays as received. */
export function signOf(name: string): Sign {
  if (!Object.hasOwn(kinds, name)) {
    return { symbol: '?', tone: 'plain', word: { en: name, ko: name } };
  }
  const [symbol, tone] = kinds[name as SignName];
  return { symbol, tone, word: signTexts[name as SignName] };
}
