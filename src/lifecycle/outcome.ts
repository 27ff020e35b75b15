import type { Ensured } from './objects/applier.ts';
import type { LostFields } from './recovery/lost-fields.ts';
import type {
  BackupReport,
  ControllerReport,
  DatabaseReport,
  ProtectionReport,
} from './reports.ts';
import type { StagePlan } from './stage.ts';

/** A stage after its plan was carried out. */
export interface Outcome<Report = unknown> {
  readonly plan: StagePlan<Report>;
  /** What became of each object, by `Kind name`. */
  readonly objects: ReadonlyMap<string, Ensured>;
  /** What another manager took of objects that are repaired, drifted or contested, by `Kind name`. */
  readonly lost: ReadonlyMap<string, LostFields>;
  /** When a contested object may be repaired next. */
  readonly requeueAfterMs?: number;
  /** What the API server refused; the other stages go on. */
  readonly error?: unknown;
}

export interface Outcomes {
  readonly credentials: Outcome<undefined>;
  readonly database: Outcome<DatabaseReport>;
  readonly backup: Outcome<BackupReport>;
  readonly controller: Outcome<ControllerReport>;
  readonly triggers: Outcome<undefined>;
  readonly protection: Outcome<ProtectionReport>;
}
