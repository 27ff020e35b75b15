import type { DatabaseReport } from '../reports.ts';
import { type Observed, type StagePlan, unchanged } from '../stage.ts';

/** StatefulSet, Service and volume claim of MariaDB. */
export function database(_observed: Observed): StagePlan<DatabaseReport> {
  return unchanged([], {});
}
