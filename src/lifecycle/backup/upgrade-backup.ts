import { annotations, managedObjects } from '../../api/names.ts';
import { jobs, type StatefulSet, statefulSets } from '../../kube/core-resources.ts';
import { databasePod, leftDataUntouched } from '../database/pod-state.ts';
import type { Observed } from '../stage.ts';
import { shortHash } from './names.ts';
import { failureOf, runResults } from './run-result.ts';

/** A new image waiting for a verified backup. */
export interface ImageChange {
  readonly from: string;
  readonly to: string;
  /** Name of the backup Job for this change only. */
  readonly job: string;
  readonly backup: 'pending' | 'verified' | 'failed';
  /** Failure reason of the backup. */
  readonly reason?: string;
}

/** Seconds until a finished Job is deleted: a later identical change needs a new backup. */
export const upgradeBackupTtlSeconds = 3600;

/**
 * Returns undefined if the desired image runs, or if the current image's Pod never opened the data: then no server
 * exists to back up.
 */
export function imageChange(observed: Observed, to: string): ImageChange | undefined {
  const live = observed.objects.find(statefulSets, managedObjects.database);
  const from = live && imageOf(live);
  if (!live || from === undefined || from === to) return undefined;
  if (leftDataUntouched(databasePod(observed))) return undefined;
  const { uid, generation } = live.metadata;
  const job = `${managedObjects.backup}-${shortHash(uid, generation, to)}`;
  return { from, to, job, ...stateOf(observed, job) };
}

function stateOf(observed: Observed, job: string): Pick<ImageChange, 'backup' | 'reason'> {
  const result = runResults(observed).find((one) => one.job === job);
  if (result?.written?.verified === true) return { backup: 'verified' };
  const reason = result?.reason ?? failureOf(observed.objects.find(jobs, job));
  return reason === undefined ? { backup: 'pending' } : { backup: 'failed', reason };
}

export function imageOf(found: StatefulSet): string | undefined {
  const containers = found.spec?.template.spec?.containers ?? [];
  return containers.find(({ name }) => name === managedObjects.database)?.image;
}

/** Returns instructions to change the image when no backup is possible. */
export function withoutBackup({ to }: ImageChange): string {
  return `to change to "${to}" without a backup, delete StatefulSet ${managedObjects.database}, under protection with annotation ${annotations.breakGlass}; data and passwords stay`;
}
