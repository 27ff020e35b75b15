import type { BackupReport } from '../reports.ts';
import { type Observed, type StagePlan, unchanged } from '../stage.ts';

/** CronJob and claim of backups; Jobs that restore one, or that make one before an upgrade. */
export function backup(_observed: Observed): StagePlan<BackupReport> {
  return unchanged([], {});
}
