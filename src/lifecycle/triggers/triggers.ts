import { type Observed, type StagePlan, unchanged } from '../stage.ts';

/** ConfigMap multinic-operator-triggers, which the operator follows. */
export function triggers(_observed: Observed): StagePlan<undefined> {
  return unchanged([], undefined);
}
