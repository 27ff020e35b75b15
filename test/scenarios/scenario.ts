/** The part that keeps a scenario from happening again. */
type Part = 'agent' | 'controller' | 'operator' | 'viola' | 'inventory' | 'delivery';

type ScenarioId = `RW-${string}`;

/** A failure seen in the field with systems like this one. */
interface Failure {
  readonly id: ScenarioId;
  /** What happened. */
  readonly field: string;
}

/** A failure that tests exclude: those with its id in their title, `[RW-80] …`. */
export interface ProvenFailure extends Failure {
  readonly by: Part;
  /** What holds instead. */
  readonly holds: string;
}

interface OutOfScope extends Failure {
  /** Why no test is about it. */
  readonly outOfScope: string;
}

export type Scenario = ProvenFailure | OutOfScope;
