import { counted } from '../../api/counted.ts';
import { screensTexts } from '../../api/texts/screens.ts';
import { filled } from '../../api/texts/text.ts';
import type { Language } from '../options.ts';
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
  if (lang === 'ko') {
    return `OpenstackConfig ${config}: NIC 제거${nics === undefined ? '가' : ` ${nics}개가`} 동의를 기다립니다`;
  }
  const what = nics === undefined ? 'removals' : counted(nics, 'removal');
  return `OpenstackConfig ${config}: ${what} ${nics === 1 ? 'waits' : 'wait'} for consent`;
}

export function nothingWaitsText(config: string, lang: Language): string {
  return filled(screensTexts.nothingWaits, { config })[lang];
}

export function questionText({ nics }: Hold, lang: Language): string {
  if (lang === 'ko') {
    const what = nics === undefined ? 'yes를' : `NIC 수(${nics})를`;
    return `제거에 동의하려면 ${what} 입력하십시오:`;
  }
  const what = nics === undefined ? 'yes' : `the number of NICs (${nics})`;
  return `To consent to the removal, type ${what}:`;
}

/** Returns what the consent covers, and until when. */
export function consentText({ config, nics }: Hold, until: string, lang: Language): string {
  if (lang === 'ko') {
    const count = nics === undefined ? '' : ` ${nics}개`;
    return `OpenstackConfig ${config}의 NIC 제거${count}에 동의했습니다. 동의는 지금 대기 중인 NIC에만, 한 시간 동안(${until}까지) 유효합니다.`;
  }
  const what =
    nics === undefined
      ? 'exactly the NICs that wait now'
      : nics === 1
        ? 'exactly this NIC'
        : `exactly these ${nics} NICs`;
  return `Consent given for OpenstackConfig ${config}: it covers ${what}, for an hour (until ${until}).`;
}
