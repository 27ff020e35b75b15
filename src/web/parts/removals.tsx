import type { ScreenAnswer } from '../../api/dashboard/screens.ts';
import { filled } from '../../api/texts/text.ts';
import { dateTime, number } from '../words/format.ts';
import { say } from '../words/language.ts';
import { pageTexts } from '../words/page-texts.ts';
import { screenTexts } from '../words/screen-texts.ts';
import { Age } from './texts.tsx';

type RemovalUse = ScreenAnswer<'configs'>['configs'][number]['removals'];

/** Use of the removal budget, and whether removals wait. */
export function Removals({ removals }: { readonly removals: RemovalUse }) {
  const { lastHour, allowed, waiting, waitingSince, consentUntil } = removals;
  const limit = allowed === undefined ? say(pageTexts.unknown) : number(allowed);
  return (
    <>
      {say(filled(screenTexts.removalsUse, { used: number(lastHour), allowed: limit }))}
      {waiting && (
        <p class="sign warn">
          <span aria-hidden="true">△</span> {say(screenTexts.removalsWait)}
          {waitingSince !== undefined && (
            <>
              {' '}
              (<Age at={waitingSince} />)
            </>
          )}
        </p>
      )}
      {consentUntil !== undefined && (
        <p>{say(filled(screenTexts.consentUntil, { at: dateTime(Date.parse(consentUntil)) }))}</p>
      )}
    </>
  );
}
