import { managedObjects } from '../../../api/names.ts';
import { claims } from '../../../kube/core-resources.ts';
import type { DatabaseWanted } from '../../model/accepted.ts';
import { parseQuantity } from '../../model/quantity.ts';
import type { Observed } from '../../model/stage.ts';
import { loginMount } from '../database/restricted-pod.ts';
import { loginSource } from '../database/stateful-set.ts';
import { isEmptyAccepted } from './restore.ts';
import { backupScript } from './script.ts';
import { type JobSpec, workJobSpec } from './work-job.ts';

/** Maximum duration of a backup or restore, in seconds. */
const deadlineSeconds = 3600;

/** Task of the backup script. */
export type Task =
  | { readonly task: 'backup'; readonly suffix: '' | '-before-upgrade' }
  /** Loads and checks a copy beside the live data. `safety`: dumps the present data first. */
  | { readonly task: 'load'; readonly file: string; readonly safety: boolean }
  /** Exchanges the copy and the live data. */
  | { readonly task: 'swap' };

export interface WorkOptions {
  readonly work: Task;
  /** Image of the running server, whose clients read its dumps. */
  readonly image: string;
  /** Number of retained files per kind. */
  readonly retention: number;
}

/** Returns the Job spec for a task of the backup script. */
export function jobSpecOf(
  observed: Observed,
  { service, resources }: DatabaseWanted,
  { work, image, retention }: WorkOptions,
): JobSpec {
  const environment = {
    TASK: work.task,
    HOST: managedObjects.database,
    PORT: String(service.port),
    RETENTION: String(retention),
    SUFFIX: work.task === 'backup' ? work.suffix : '',
    EMPTY: work.task === 'backup' && isEmptyAccepted(observed) ? 'yes' : '',
    FILE: work.task === 'load' ? work.file : '',
    SAFETY: work.task === 'load' && !work.safety ? 'no' : 'yes',
    CAPACITY: capacityOf(observed),
  };
  const database = { name: managedObjects.credentials, key: 'database' };
  return workJobSpec(observed, {
    deadlineSeconds,
    resources,
    container: {
      image,
      command: ['sh', '-c', backupScript],
      env: [
        ...Object.entries(environment).map(([name, value]) => ({ name, value })),
        { name: 'DATABASE', valueFrom: { secretKeyRef: database } },
      ],
      volumeMounts: [
        { name: 'backup', mountPath: '/backup' },
        { name: 'scratch', mountPath: '/scratch' },
        loginMount,
      ],
    },
    volumes: [
      { name: 'backup', persistentVolumeClaim: { claimName: managedObjects.backup } },
      { name: 'scratch', emptyDir: {} },
      loginSource(['init.sql', 'backup.cnf']),
    ],
  });
}

/** Returns the data volume's bytes; '': unknown. */
function capacityOf({ objects }: Observed): string {
  const claim = objects.find(claims, managedObjects.databaseClaim);
  const quantity = claim?.status?.capacity?.['storage'];
  const parsed = quantity === undefined ? undefined : parseQuantity(quantity);
  return parsed === undefined ? '' : String(parsed.nano / 1_000_000_000n);
}
