import type { ScreenAnswer } from '../../api/dashboard/screens.ts';
import { stepTitles } from '../../api/texts/titles.ts';
import { NextStep } from '../parts/next-step.tsx';
import { Name, Sign, Words } from '../parts/texts.tsx';
import { say } from '../words/language.ts';

type Step = ScreenAnswer<'nic'>['why']['steps'][number];

/** The steps from Neutron to the boot files. Good steps have folded evidence. */
export function WhySteps({
  steps,
  answer,
}: {
  readonly steps: readonly Step[];
  /** The first failed step's name; undefined: none failed. */
  readonly answer: string | undefined;
}) {
  return (
    <ol class="steps">
      {steps.map((step) => (
        <li key={step.name}>
          <StepDetails step={step} isAnswer={step.name === answer} />
        </li>
      ))}
    </ol>
  );
}

function StepDetails({ step, isAnswer }: { readonly step: Step; readonly isAnswer: boolean }) {
  const { name, result, reason, evidence, next } = step;
  const title = (
    <>
      <Sign of={result} /> <strong>{say(stepTitles[name])}</strong>
      {reason !== undefined && (
        <>
          {' '}
          <Name value={reason} />
        </>
      )}
    </>
  );
  if (evidence.en === '' && next === undefined) return <div>{title}</div>;
  return (
    <details open={isAnswer || result === 'warn'}>
      <summary>{title}</summary>
      <p>
        <Words text={evidence} />
      </p>
      <NextStep step={next} />
    </details>
  );
}
