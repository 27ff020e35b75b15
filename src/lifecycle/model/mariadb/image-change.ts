import { annotations, managedObjects } from '../../../api/names.ts';
import { type StatefulSet, statefulSets } from '../../../kube/core-resources.ts';
import { whyNotStarted } from '../pod-problem.ts';
import type { Observed } from '../stage.ts';
import { recordIn } from './operation-record.ts';
import { databasePod, leftDataUntouched } from './pod-state.ts';
import { failureOf, jobOf, runResults } from './run-result.ts';

/** An image change whose backup or check failed; the failed Job exists for an hour, and blocks the next attempt. */
export interface FailedUpgrade {
  readonly job: string;
  readonly why: string;
}

/** Returns the failed Job for this image; undefined: none. */
export function failedUpgrade(observed: Observed, image: string): FailedUpgrade | undefined {
  const results = runResults(observed);
  for (const job of observed.jobs) {
    const { name, annotations: notes } = job.metadata;
    if (notes?.[annotations.operationRequest] !== image) continue;
    const result = results.find((one) => one.job === name);
    if (result?.succeeded) continue;
    const why = result?.reason ?? failureOf(job) ?? pullFailure(observed, name);
    if (why !== undefined) return { job: name, why };
  }
  return undefined;
}

/**
 * Returns why a Job's Pod cannot start; the kubelet tries again, and a corrected image is a new request. An unscheduled
 * Pod only waits, for example for the CPU of the Job before.
 */
export function pullFailure({ pods }: Observed, job: string): string | undefined {
  const pod = pods.find((one) => jobOf(one) === job);
  return pod && whyNotStarted(pod);
}

/**
 * Returns the StatefulSet's image: the desired image only after backup and check, or if the present
 * image never opened the data.
 */
export function serverImage(observed: Observed, wanted: string): string {
  const live = observed.objects.find(statefulSets, managedObjects.database);
  const from = live && imageOf(live);
  if (from === undefined) return wanted;
  const { operation } = recordIn(observed);
  if (operation?.kind === 'upgrade' && operation.step === 'replace') return operation.request;
  return leftDataUntouched(databasePod(observed)) && !operation ? wanted : from;
}

export function imageOf(found: StatefulSet): string | undefined {
  const containers = found.spec?.template.spec?.containers ?? [];
  return containers.find(({ name }) => name === managedObjects.database)?.image;
}

/** Returns instructions to change the image when no backup is possible. */
export function withoutBackup(to: string): string {
  return `to change to "${to}" without a backup, delete StatefulSet ${managedObjects.database}, under protection with annotation ${annotations.breakGlass}; data and passwords stay`;
}
