import type { Accepted, Problem } from '../accept/accepted.ts';
import type { Outcome, Outcomes } from '../outcome.ts';
import type { Notice } from '../stage.ts';

/** What all stages found, for phase and conditions. */
export interface Findings {
  /** Fields that stop a stage. */
  readonly problems: readonly Problem[];
  /** Annotations that count as absent. */
  readonly ignored: readonly Problem[];
  /** What the API server refused or did not answer; lifecycle tries again. */
  readonly errors: readonly string[];
  readonly notices: readonly Notice[];
  /** `Kind name` of objects that differ from the spec while recovery is off. */
  readonly drifted: readonly string[];
  /** The same of objects that another field manager changes after each repair, with manager and fields. */
  readonly contested: readonly string[];
}

/** Fields of an object that other managers took, as recovery reports them. */
interface Loss {
  readonly paths: readonly string[];
  readonly managers: readonly string[];
}

type Recovered = Outcome & { readonly lost?: ReadonlyMap<string, Loss> };

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
    drifted: all.flatMap((outcome) => objectsIn(outcome, 'drifted')),
    contested: all.flatMap((outcome) =>
      objectsIn(outcome, 'contested').map((name) => withLoss(name, outcome)),
    ),
  };
}

function objectsIn({ objects }: Outcome, state: string): string[] {
  return [...objects].flatMap(([name, ensured]) => (ensured === state ? [name] : []));
}

function withLoss(name: string, { lost }: Recovered): string {
  const loss = lost?.get(name);
  return loss ? `${name} (${loss.managers.join(', ')}: ${loss.paths.join(', ')})` : name;
}

/** Several stages may depend on one field. */
function withoutRepeats(problems: readonly Problem[]): Problem[] {
  return [...new Map(problems.map((one) => [one.message, one])).values()];
}

function textOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
