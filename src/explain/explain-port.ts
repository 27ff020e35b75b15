import { type StepName, stepNames } from '../api/step-names.ts';
import type { Wording } from '../api/texts/text.ts';
import { type Conclusion, conclude, missingOf } from './conclusion.ts';
import type { Missing } from './fact.ts';
import type { PortFacts } from './facts.ts';
import { headlineOf } from './headline.ts';
import { withoutOwnNetwork } from './own-network.ts';
import { type RemovalHold, removalHoldOf } from './removal-hold.ts';
import type { Step } from './step.ts';
import { acceptance } from './steps/acceptance.ts';
import { agent } from './steps/agent.ts';
import { delivery } from './steps/delivery.ts';
import { environment } from './steps/environment.ts';
import { assignment, filter } from './steps/filter.ts';
import { bootFiles, kernel } from './steps/kernel.ts';
import { neutron } from './steps/neutron.ts';
import { notReached, type Outcome } from './steps/outcome.ts';
import { selection } from './steps/selection.ts';
import { type Subject, subjectOf } from './subject.ts';

/** Why a port is a NIC or not. */
export interface Explanation {
  /** Port and answer in a single sentence. */
  readonly headline: Wording;
  /** A step per name in `stepNames`, in the same order. */
  readonly steps: readonly Step[];
  /** The first failed step; undefined: no step failed. */
  readonly answer: Step | undefined;
  readonly conclusion: Conclusion;
  /** Unread facts. */
  readonly missing: readonly Missing[];
}

const explainers: Readonly<Record<StepName, (subject: Subject) => Outcome>> = {
  Neutron: neutron,
  Selection: selection,
  Filter: filter,
  Assignment: assignment,
  Delivery: delivery,
  Acceptance: acceptance,
  Agent: agent,
  Kernel: kernel,
  BootFiles: bootFiles,
  Environment: environment,
};

/** Explains a port, from Neutron to the boot files. */
export function explainPort(facts: PortFacts): Explanation {
  const subject = subjectOf(facts);
  const held = removalHoldOf(subject);
  const steps: Step[] = [];
  let answer: Step | undefined;
  for (const name of stepNames) {
    const outcome = withHold(name, outcomeOf(name, subject, answer ?? intended(steps)), held);
    const step = { name, ...outcome, next: withoutOwnNetwork(outcome.next, subject) };
    steps.push(step);
    if (step.result === 'fail') answer ??= step;
  }
  return {
    headline: headlineOf(subject, steps, answer),
    steps,
    answer,
    ...concluded(steps, facts),
  };
}

/** Concludes about the port; steps without facts leave the port unexplained. */
function concluded(
  steps: readonly Step[],
  { configs, kubernetesNode }: PortFacts,
): Pick<Explanation, 'conclusion' | 'missing'> {
  // Facts for the next steps belong to no step.
  const ofNextSteps = [...(configs ? missingOf(configs) : []), ...missingOf(kubernetesNode)];
  const missing = [...steps.flatMap((step) => step.missing ?? []), ...ofNextSteps];
  const conclusion = conclude({
    isWrong: steps.some(({ result }) => result === 'fail' || result === 'warn'),
    isExamined: steps.some(({ result }) => result === 'ok' || result === 'info'),
    missing,
  });
  return { conclusion: conclusion ?? 'incomplete', missing };
}

/** Returns the step after which no NIC is expected; undefined: none. */
function intended(steps: readonly Step[]): Step | undefined {
  return steps.find(({ result }) => result === 'info');
}

/** A held NIC is still on the node: earlier failed steps name the cause for the removal. */
function withHold(name: StepName, outcome: Outcome, held: RemovalHold | undefined): Outcome {
  if (held === undefined) return outcome;
  if (name === held.step) return held.outcome;
  const isBefore = stepNames.indexOf(name) < stepNames.indexOf(held.step);
  return isBefore && outcome.result === 'fail' ? { ...outcome, result: 'warn' } : outcome;
}

/** After a failure only the environment is still examined: the environment may be the cause, such as a disabled port. */
function outcomeOf(name: StepName, subject: Subject, answer: Step | undefined): Outcome {
  if (!answer) return explainers[name](subject);
  if (name !== 'Environment') return notReached;
  const outcome = environment(subject);
  return outcome.result === 'warn' ? outcome : notReached;
}
