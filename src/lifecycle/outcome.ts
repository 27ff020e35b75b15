import type { Ensured } from './objects/applier.ts';
import type { LostFields } from './recovery/lost-fields.ts';
import type {
  BackupReport,
  ControllerReport,
  DatabaseReport,
  OperationReport,
  ProtectionReport,
} from './reports.ts';
import type { StagePlan } from './stage.ts';

/** A stage after its plan was carried out. */
export interface Outcome<Report = unknown> {
  readonly plan: StagePlan<Report>;
  /** Result per object, by `Kind name`. */
  readonly objects: ReadonlyMap<string, Ensured>;
  /** Fields lost to another manager on repaired, drifted or contested objects, by `Kind name`. */
  readonly lost: ReadonlyMap<string, LostFields>;
  /** Milliseconds until the next repair of a contested object. */
  readonly requeueAfterMs?: number;
  /** Refusal by the API server; other stages continue. */
  readonly error?: unknown;
}

export interface Outcomes {
  readonly operation: Outcome<OperationReport>;
  readonly credentials: Outcome<undefined>;
  readonly database: Outcome<DatabaseReport>;
  readonly backup: Outcome<BackupReport>;
  readonly controller: Outcome<ControllerReport>;
  readonly triggers: Outcome<undefined>;
  readonly protection: Outcome<ProtectionReport>;
}
