import type { ComponentChildren } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import type { ScreenAnswer } from '../../api/dashboard/screens.ts';
import { filled } from '../../api/texts/text.ts';
import { noAnswer, type Problem } from '../data/read-json.ts';
import type { ScreenReader } from '../data/screen-reader.ts';
import { now } from '../data/server-clock.ts';
import { quantity, relativeTime } from '../words/format.ts';
import { say } from '../words/language.ts';
import { pageTexts } from '../words/page-texts.ts';
import { Commands } from './next-step.tsx';
import { Name, Words } from './texts.tsx';

type Common = Pick<ScreenAnswer<'fleet'>, 'at' | 'unread' | 'skipped'>;

/** Frame around all screens: heading, data age, missing sources; `children` renders the data. */
export function Screen<T extends Common>({
  title,
  reader,
  children,
}: {
  readonly title: ComponentChildren;
  readonly reader: ScreenReader<T>;
  readonly children: (data: T) => ComponentChildren;
}) {
  const data = reader.data.value;
  const problem = reader.problem.value;
  const isFormer = reader.isFormer.value;
  return (
    <div aria-busy={data === undefined || isFormer} class={isFormer ? 'former' : undefined}>
      <Heading>{title}</Heading>
      {problem && <ProblemBox problem={problem} hasData={data !== undefined} />}
      {data === undefined && !problem && <p role="status">{say(pageTexts.reading)}</p>}
      {data && <Gaps data={data} />}
      {data && children(data)}
      {data && <DataAge at={data.at} />}
    </div>
  );
}

/** Screen heading; a different screen moves the focus here, as a page load would. */
export function Heading({ children }: { readonly children: ComponentChildren }) {
  const heading = useRef<HTMLHeadingElement>(null);
  useEffect(() => {
    // The first screen after a page load leaves the focus to the browser.
    if (history.state !== null) heading.current?.focus();
  }, []);
  return (
    <h1 ref={heading} tabIndex={-1}>
      {children}
    </h1>
  );
}

function DataAge({ at }: { readonly at: string }) {
  const ms = Date.parse(at);
  if (Number.isNaN(ms)) return null;
  const age = relativeTime(ms, now.value);
  return <p class="quiet">{say(filled(pageTexts.readAt, { age }))}</p>;
}

/** Why a screen was not read. */
function ProblemBox({
  problem: { reason, message, nextStep },
  hasData,
}: {
  readonly problem: Problem;
  readonly hasData: boolean;
}) {
  const isGone = reason === noAnswer;
  return (
    <div class="problem" role="alert">
      <p>
        <strong>{say(pageTexts.notRead)}</strong>
        {!isGone && (
          <>
            {': '}
            <Name value={reason} /> <Name value={message} />
          </>
        )}
      </p>
      {isGone ? (
        <>
          <p>{say(pageTexts.noAnswer)}</p>
          <Commands commands={['kubectl multinic dashboard']} />
        </>
      ) : (
        nextStep !== '' && (
          <p>
            <strong>{say(pageTexts.next)}</strong> <Name value={nextStep} />
          </p>
        )
      )}
      {hasData && <p>{say(pageTexts.stays)}</p>}
    </div>
  );
}

/** Sources without an answer, and unread optional facts. */
function Gaps({ data: { unread, skipped } }: { readonly data: Common }) {
  return (
    <>
      {unread.length > 0 && (
        <details class="problem" open>
          <summary>
            {say(filled(pageTexts.incomplete, { sources: quantity(unread.length, 'source') }))}
          </summary>
          <ul>
            {unread.map(({ source, place, why, next }) => (
              <li key={`${source} ${place}`}>
                <Name value={source} /> (<Name value={place} />
                ): <Words text={why} />
                {next.map((text) => (
                  <p key={text.en}>
                    <strong>{say(pageTexts.next)}</strong> <Words text={text} />
                  </p>
                ))}
              </li>
            ))}
          </ul>
        </details>
      )}
      {skipped.length > 0 && (
        <details class="skipped">
          <summary>
            {say(filled(pageTexts.skipped, { facts: quantity(skipped.length, 'fact') }))}
          </summary>
          <ul>
            {skipped.map(({ what, why, next }) => (
              <li key={`${what.en} ${why.en}`}>
                <Words text={what} />: <Words text={why} />
                {next.en !== '' && (
                  <p>
                    <strong>{say(pageTexts.next)}</strong> <Words text={next} />
                  </p>
                )}
              </li>
            ))}
          </ul>
        </details>
      )}
    </>
  );
}
