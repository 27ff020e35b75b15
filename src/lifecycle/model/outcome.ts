import type {
  BackupReport,
  ControllerReport,
  DatabaseReport,
  OperationReport,
  ProtectionReport,
} from './reports.ts';
import type { StagePlan } from './stage.ts';

/** Own fields changed or removed by another manager. */
export interface LostFields {
  /** Sorted minimal set of paths. */
  readonly paths: readonly string[];
  /** Managers owning the fields now; empty for removed fields, because removal leaves no owner. */
  readonly managers: readonly string[];
}

/**
 * Result for one object. After a deletion or change by another manager: `repaired` (applied again), `drifted` (recovery
 * is off) or `contested` (changed after each repair; the next repair waits).
 */
export type Ensured = 'unchanged' | 'created' | 'changed' | 'repaired' | 'drifted' | 'contested';

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
