import { annotations, managedObjects } from '../../api/names.ts';
import { jobs, type StatefulSet, statefulSets } from '../../kube/core-resources.ts';
import { databasePod, leftDataUntouched } from '../database/pod-state.ts';
import type { Observed } from '../stage.ts';
import { shortHash } from './names.ts';
import { failureOf, runResults } from './run-result.ts';

/** A new image that waits for a verified backup. */
export interface ImageChange {
  readonly from: string;
  readonly to: string;
  /** Name of the backup Job for exactly this change. */
  readonly job: string;
  readonly backup: 'pending' | 'verified' | 'failed';
  /** Why the backup failed. */
  readonly reason?: string;
}

/** Seconds after which a finished Job goes: a later change of the same kind needs a backup of its own. */
export const upgradeBackupTtlSeconds = 3600;

/**
 * Returns undefined if the wanted image runs, or if a Pod of the present image never opened the data, so that there is no
 * server to back up from.
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

/** How a user changes the image when no backup of the present server is possible. */
export function withoutBackup({ to }: ImageChange): string {
  return `to change to "${to}" without a backup, delete StatefulSet ${managedObjects.database}, under protection with annotation ${annotations.breakGlass}; data and passwords stay`;
}
