import { managedObjects } from '../../../api/names.ts';

/** Init container that installs or upgrades the data. */
export const prepareContainer = 'prepare-data';

/** Pod of the StatefulSet's only replica. */
export const databasePodName = 'mariadb-0';

/** Seconds for a clean stop: a newer series may refuse the redo log of an unclean stop. */
export const graceSeconds = 120;

/** Value of label `app` on backup and restore Pods. */
export const backupApp = managedObjects.backup;

/** Container that creates or restores a dump. */
export const workContainer = 'backup';

/** Labels on a Job's Pods, since and before Kubernetes 1.27. */
export const jobNameLabels = ['batch.kubernetes.io/job-name', 'job-name'] as const;
