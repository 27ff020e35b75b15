import { createHash } from 'node:crypto';
import { managedObjects } from '../../api/names.ts';

/** Value of label `app` on backup and restore Pods. */
export const backupApp = managedObjects.backup;

/** Container that creates or restores a dump. */
export const workContainer = 'backup';

/** Labels on a Job's Pods, since and before Kubernetes 1.27. */
export const jobNameLabels = ['batch.kubernetes.io/job-name', 'job-name'] as const;

/** Maximum duration of a backup or restore, in seconds. */
export const deadlineSeconds = 3600;

/** Returns ten hexadecimal digits hashed from the parts. */
export function shortHash(...parts: readonly (string | number | undefined)[]): string {
  return createHash('sha256').update(JSON.stringify(parts)).digest('hex').slice(0, 10);
}
