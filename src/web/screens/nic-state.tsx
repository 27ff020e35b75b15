import type { ComponentChildren } from 'preact';
import type { ScreenAnswer } from '../../api/dashboard/screens.ts';
import type { Wording } from '../../api/texts/text.ts';
import { Facts } from '../parts/facts.tsx';
import { Age, Name, Sign, Words } from '../parts/texts.tsx';
import { say } from '../words/language.ts';
import { pageTexts } from '../words/page-texts.ts';
import { screenTexts } from '../words/screen-texts.ts';

type State = NonNullable<ScreenAnswer<'nic'>['state']>;

/** Desired state beside kernel and boot files. */
export function NicState({
  state: { desired, kernel, bootFiles, isComplete },
}: {
  readonly state: State;
}) {
  return (
    <>
      <div class="places">
        <section>
          <h3>{say(screenTexts.desired)}</h3>
          <dl>
            {desired.map(({ field, value }) => (
              <div key={field}>
                <dt>{field}</dt>
                <dd>
                  <Name value={value} />
                </dd>
              </div>
            ))}
          </dl>
        </section>
        <Place title={screenTexts.kernel} place={kernel}>
          <Facts
            facts={[
              [screenTexts.carrier, yesOrNo(kernel.carrier)],
              [
                screenTexts.checked,
                <Age key="at" at={kernel.checkedAt} absent={pageTexts.never} />,
              ],
            ]}
          />
        </Place>
        <Place title={screenTexts.bootFiles} place={bootFiles}>
          <Facts facts={[[screenTexts.backend, <Name key="name" value={bootFiles.backend} />]]} />
          {bootFiles.warnings.map((warning) => (
            <p key={warning}>
              △ <Name value={warning} />
            </p>
          ))}
        </Place>
      </div>
      {!isComplete && <p class="quiet">{say(screenTexts.changesShortened)}</p>}
    </>
  );
}

/** Kernel or boot files in comparison with the desired state. */
function Place({
  title,
  place: { isSame, changes, found },
  children,
}: {
  readonly title: Wording;
  readonly place: Pick<State['kernel'], 'isSame' | 'changes' | 'found'>;
  readonly children: ComponentChildren;
}) {
  return (
    <section>
      <h3>{say(title)}</h3>
      <Comparison isSame={isSame} />
      <ul>
        {changes.map((change) => (
          <li key={change}>
            <Name value={change} />
          </li>
        ))}
        {found.map((text) => (
          <li key={text.en}>
            <Words text={text} />
          </li>
        ))}
      </ul>
      {children}
    </section>
  );
}

function Comparison({ isSame }: { readonly isSame: boolean | undefined }) {
  if (isSame === undefined) return <Sign of="Unknown" />;
  return (
    <p class={`sign ${isSame ? 'good' : 'warn'}`}>
      <span aria-hidden="true">{isSame ? '●' : '△'}</span>{' '}
      <span>{say(isSame ? screenTexts.asApplied : screenTexts.differs)}</span>
    </p>
  );
}

function yesOrNo(value: boolean | undefined): string {
  if (value === undefined) return say(pageTexts.unknown);
  return say(value ? pageTexts.yes : pageTexts.no);
}
