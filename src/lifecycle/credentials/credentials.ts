import { type Observed, type StagePlan, unchanged } from '../stage.ts';

/** Secret mariadb-credentials: from the spec, taken over, generated or rotated. */
export function credentials(_observed: Observed, _newPassword: () => string): StagePlan<undefined> {
  return unchanged([], undefined);
}
