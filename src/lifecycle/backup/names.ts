import { createHash } from 'node:crypto';
import { managedObjects } from '../../api/names.ts';

/** Value of label `app` on Pods of backups and restores. */
export const backupApp = managedObjects.backup;

/** Container that makes or restores a dump. */
export const workContainer = 'backup';

/** Labels of a Job's Pods, before and since Kubernetes 1.27. */
export const jobNameLabels = ['batch.kubernetes.io/job-name', 'job-name'] as const;

/** Longest run of a backup or restore, in seconds. */
export const deadlineSeconds = 3600;

/** Ten hexadecimal digits of the parts. */
export function shortHash(...parts: readonly (string | number | undefined)[]): string {
  return createHash('sha256').update(JSON.stringify(parts)).digest('hex').slice(0, 10);
}
