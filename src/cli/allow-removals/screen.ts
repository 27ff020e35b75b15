import { screensTexts } from '../../api/texts/screens.ts';
import { amount, filled, type Language, type Wording } from '../../api/texts/text.ts';
import { printable } from '../output/width.ts';
import { budgetLines, holdLines } from '../plan/removals.ts';
import type { Hold } from './hold.ts';

/** Returns the held NICs with basis and code, the cause, and the budgets. */
export function holdText(hold: Hold, lang: Language): string {
  const { message } = hold;
  const blocks = [
    [headline(hold, lang)],
    holdLines(hold, lang),
    message === '' ? [] : [`! ${printable(message)}`],
    budgetLines(hold, lang),
  ];
  return blocks
    .filter((lines) => lines.length > 0)
    .map((lines) => lines.join('\n'))
    .join('\n\n');
}

function headline({ config, nics }: Hold, lang: Language): string {
  const removals =
    nics === undefined
      ? screensTexts.removalsOfUnknownNumber
      : filled(screensTexts.someRemovals, {
          removals: amount(nics, 'removal waits', 'removals wait'),
        });
  return filled(screensTexts.removalsWait, { config, removals })[lang];
}

export function nothingWaitsText(config: string, lang: Language): string {
  return filled(screensTexts.nothingWaits, { config })[lang];
}

export function questionText({ nics }: Hold, lang: Language): string {
  const answer =
    nics === undefined ? screensTexts.typeYes : filled(screensTexts.typeNumber, { nics });
  return filled(screensTexts.typeToConsent, { answer })[lang];
}

/** Returns what the consent covers, and until when. */
export function consentText({ config, nics }: Hold, until: string, lang: Language): string {
  return filled(screensTexts.consentGiven, { config, nics: coveredNics(nics), until })[lang];
}

function coveredNics(nics: number | undefined): Wording {
  if (nics === undefined) return screensTexts.waitingNics;
  return nics === 1 ? screensTexts.thisNic : filled(screensTexts.theseNics, { nics });
}
