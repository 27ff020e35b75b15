import type { MultiNicOperatorStatus } from '../../api/multinicoperator.ts';

type DatabaseStatus = NonNullable<MultiNicOperatorStatus['databaseStatus']>;

/** Stage results in the format of the status. */
export type ControllerReport = MultiNicOperatorStatus['controllerStatus'] & {
  /** Obstacle of the phase, for users. */
  readonly message?: string;
};
export type DatabaseReport = Pick<DatabaseStatus, 'phase' | 'readyReplicas' | 'version'> & {
  readonly message?: string;
};
export interface OperationReport {
  readonly operation?: NonNullable<DatabaseStatus['operation']>;
  /** The operation, with the reason for waiting. */
  readonly message?: string;
  /** Waiting requests. */
  readonly waiting: readonly string[];
  /** Answer to a request that has ended. */
  readonly answer?: string;
}
export type BackupReport = Pick<DatabaseStatus, 'lastBackup' | 'lastRestore'>;

export interface ProtectionReport {
  /** True if the webhook configuration has our CA. */
  readonly configured: boolean;
  /** Why the webhook certificate cannot be maintained. */
  readonly message?: string;
}
