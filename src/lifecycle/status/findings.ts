import type { Accepted, Problem } from '../model/accepted.ts';
import type { Ensured, Outcome, Outcomes } from '../model/outcome.ts';
import type { Notice } from '../model/stage.ts';
import { lostFieldsText } from '../recovery/lost-fields.ts';

/** Findings of all stages, for phase and conditions. */
export interface Findings {
  /** Fields that stop a stage. */
  readonly problems: readonly Problem[];
  /** Annotations treated as absent. */
  readonly ignored: readonly Problem[];
  /** Refused or unanswered requests; lifecycle retries. */
  readonly errors: readonly string[];
  readonly notices: readonly Notice[];
  /** The operation on the database, with waiting requests. */
  readonly operation?: string;
  /** Answer to a request that has ended. */
  readonly answer?: string;
  /** Objects differing from the spec while recovery or protection is off, with field manager and fields. */
  readonly drifted: readonly string[];
  /** Objects changed by another field manager after each repair, with fields. */
  readonly contested: readonly string[];
}

export function findingsOf(outcomes: Outcomes, accepted: Accepted): Findings {
  const stages: readonly (readonly [string, Outcome])[] = Object.entries<Outcome>({ ...outcomes });
  const all = stages.map(([, outcome]) => outcome);
  return {
    problems: withoutRepeats(all.flatMap(({ plan }) => plan.problems)),
    ignored: accepted.ignored ?? [],
    errors: stages.flatMap(([name, { error }]) =>
      error === undefined ? [] : [`${name}: ${textOf(error)}`],
    ),
    notices: all.flatMap(({ plan }) => plan.notices),
    ...operationIn(outcomes),
    drifted: all.flatMap((outcome) => [
      ...objectsIn(outcome, 'drifted'),
      ...(outcome.plan.drifted ?? []),
    ]),
    contested: all.flatMap((outcome) => objectsIn(outcome, 'contested')),
  };
}

function operationIn({ operation }: Outcomes): Pick<Findings, 'operation' | 'answer'> {
  const { message, waiting, answer } = operation.plan.report;
  const parts = [
    ...(message === undefined ? [] : [message]),
    ...(waiting.length === 0 ? [] : [`waiting: ${waiting.join(', ')}`]),
  ];
  return {
    ...(parts.length === 0 ? {} : { operation: parts.join('; ') }),
    ...(answer === undefined ? {} : { answer }),
  };
}

function objectsIn(outcome: Outcome, state: Ensured): string[] {
  const found = [...outcome.objects].filter(([, ensured]) => ensured === state);
  return found.map(([name]) => withLoss(name, outcome));
}

function withLoss(name: string, { lost }: Outcome): string {
  const loss = lost.get(name);
  return loss ? `${name} (${lostFieldsText(loss)})` : name;
}

/** Removes duplicates: several stages may depend on one field. */
function withoutRepeats(problems: readonly Problem[]): Problem[] {
  return [...new Map(problems.map((one) => [one.message, one])).values()];
}

function textOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
