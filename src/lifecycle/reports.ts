import type { MultiNicOperatorStatus } from '../api/multinicoperator.ts';

type DatabaseStatus = NonNullable<MultiNicOperatorStatus['databaseStatus']>;

/** What stages tell the status, in the words of the status. */
export type ControllerReport = MultiNicOperatorStatus['controllerStatus'] & {
  /** What holds the phase up, for people. */
  readonly message?: string;
};
export type DatabaseReport = Pick<DatabaseStatus, 'phase' | 'readyReplicas' | 'version'> & {
  readonly message?: string;
};
export type BackupReport = Pick<DatabaseStatus, 'lastBackup' | 'lastRestore'>;

export interface ProtectionReport {
  /** Whether the webhook configuration has our CA. */
  readonly configured: boolean;
  /** Why the certificate of the webhook cannot be kept. */
  readonly message?: string;
}
