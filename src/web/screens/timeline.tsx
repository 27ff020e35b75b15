import type { ScreenAnswer } from '../../api/dashboard/screens.ts';
import { At, Name, Words } from '../parts/texts.tsx';
import { say } from '../words/language.ts';
import { screenTexts } from '../words/screen-texts.ts';

type Entry = ScreenAnswer<'nic'>['timeline'][number];

/** A NIC's events, newest first. */
export function Timeline({ entries }: { readonly entries: readonly Entry[] }) {
  if (entries.length === 0) return <p class="empty">{say(screenTexts.noTimeline)}</p>;
  return (
    <ol class="timeline">
      {entries.map(({ at, kind, reason, text }) => (
        <li key={`${at} ${kind} ${text.en}`}>
          <At at={at} />
          <span>
            {reason !== undefined && (
              <>
                <Name value={reason} />:{' '}
              </>
            )}
            <Words text={text} />
          </span>
        </li>
      ))}
    </ol>
  );
}
