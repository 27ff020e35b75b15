import type { ScreenAnswer } from '../../api/dashboard/screens.ts';
import { filled } from '../../api/texts/text.ts';
import { apiPath } from '../data/paths.ts';
import { useScreen } from '../data/screen-reader.ts';
import { Section } from '../parts/facts.tsx';
import { countsText, Findings, sectionTitleOf } from '../parts/findings.tsx';
import { NextStep } from '../parts/next-step.tsx';
import { Screen } from '../parts/screen.tsx';
import { Sign, Words } from '../parts/texts.tsx';
import { number, quantity } from '../words/format.ts';
import { say } from '../words/language.ts';
import { pageTexts } from '../words/page-texts.ts';
import { screenTexts } from '../words/screen-texts.ts';
import { examinePauseMs } from './fleet.tsx';

type Doctor = ScreenAnswer<'doctor'>;

/** All sections of the examination. */
export function DoctorScreen() {
  const reader = useScreen('doctor', apiPath(['doctor']), { pauseMs: examinePauseMs });
  return (
    <Screen title={say(pageTexts.doctor)} reader={reader}>
      {(answer) => <DoctorContent answer={answer} />}
    </Screen>
  );
}

export function DoctorContent({ answer }: { readonly answer: Doctor }) {
  const { counts, sections, seconds, bundle } = answer;
  return (
    <>
      <p role="status">
        {countsText(counts)} · {say(filled(screenTexts.examined, { seconds: number(seconds) }))}
      </p>
      {sections.map((section) => (
        <ExaminedSection key={section.section} section={section} />
      ))}
      <Section title={say(screenTexts.bundle)}>
        <NextStep step={bundle} />
      </Section>
    </>
  );
}

function ExaminedSection({
  section: { section, conclusion, checks, summary, findings },
}: {
  readonly section: Doctor['sections'][number];
}) {
  return (
    <Section title={sectionTitleOf(section)}>
      <p>
        <Sign of={conclusion ?? 'skipped'} /> <Words text={summary} />{' '}
        <span class="quiet">
          {say(filled(screenTexts.checks, { checks: quantity(checks, 'check') }))}
        </span>
      </p>
      <Findings groups={findings} />
    </Section>
  );
}
