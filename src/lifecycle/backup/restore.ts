import { annotations, managedObjects } from '../../api/names.ts';
import { claims, type Job, jobs } from '../../kube/core-resources.ts';
import type { Problem } from '../accept/accepted.ts';
import type { BackupReport } from '../reports.ts';
import type { Observed } from '../stage.ts';
import { shortHash } from './names.ts';
import { failureOf, runResults } from './run-result.ts';

/** Restore requested by the annotation. */
export interface RestoreRequest {
  /** Annotation value. */
  readonly request: string;
  /** File name, or `latest`. */
  readonly file: string;
  readonly job: string;
}

/** Text after `@` makes a value new, to restore the same file again. */
const form = /^(latest|[A-Za-z0-9][A-Za-z0-9._-]*)(?:@.*)?$/;

/**
 * Returns undefined without the annotation. A value set again after a different value is a new request with its own
 * Job.
 */
export function restoreRequest({
  operator,
  status,
}: Observed): RestoreRequest | Problem | undefined {
  const { uid, annotations: notes } = operator.metadata;
  const request = notes?.[annotations.restore];
  if (request === undefined || request === '') return undefined;
  const file = form.exec(request)?.[1];
  if (file === undefined) {
    return {
      field: `metadata.annotations[${annotations.restore}]`,
      message: `${annotations.restore} "${request}" is neither latest nor the name of a file on the backup volume; set latest or a name such as multinic-20260101T030000Z.sql, with @TEXT to repeat a restore`,
    };
  }
  const { request: before, at } = status.databaseStatus?.lastRestore ?? {};
  return { request, file, job: `mariadb-restore-${shortHash(uid, request, before, at)}` };
}

/**
 * True if a Job was created for a request. The claim stores the request, because the Job is deleted after a day and a
 * status may be lost.
 */
export function isHandled(observed: Observed, request: string): boolean {
  return isReported(observed, request) || isNoted(observed, request);
}

function isReported({ status }: Observed, request: string): boolean {
  return status.databaseStatus?.lastRestore?.request === request;
}

function isNoted({ objects }: Observed, request: string): boolean {
  const claim = objects.find(claims, managedObjects.backup);
  return claim?.metadata.annotations?.[annotations.restore] === request;
}

/** Returns the request to store on the claim: this request once its Job exists, otherwise an earlier request. */
export function notedRequest(
  { objects, status }: Observed,
  wanted: RestoreRequest | undefined,
): string | undefined {
  if (wanted && objects.find(jobs, wanted.job)) return wanted.request;
  const claim = objects.find(claims, managedObjects.backup);
  return (
    claim?.metadata.annotations?.[annotations.restore] ??
    status.databaseStatus?.lastRestore?.request
  );
}

/** Returns the last finished restore: for this request, otherwise from the status. */
export function lastRestore(
  observed: Observed,
  wanted: RestoreRequest | undefined,
): BackupReport['lastRestore'] {
  const before = observed.status.databaseStatus?.lastRestore;
  if (!wanted || isReported(observed, wanted.request)) return before;
  return endOf(observed, wanted) ?? before;
}

function endOf(
  observed: Observed,
  { request, file, job }: RestoreRequest,
): BackupReport['lastRestore'] {
  const result = runResults(observed).find((one) => one.job === job);
  if (result?.written) {
    const { file: restored, at } = result.written;
    return { request, file: restored, at, result: 'Succeeded' };
  }
  const live = observed.objects.find(jobs, job);
  const failure = result?.reason ?? failureOf(live) ?? lossOf(observed, request, live);
  if (failure === undefined) return undefined;
  return { request, file, at: result?.endedAt ?? observed.now.toISOString(), result: failure };
}

/** Returns why a restore's result is unknown: its Job was deleted, or expired after a day without lifecycle. */
function lossOf(observed: Observed, request: string, live: Job | undefined): string | undefined {
  if (live || !isNoted(observed, request)) return undefined;
  return `the result is unknown, because the Job was deleted; append @TEXT to the value of ${annotations.restore} to restore again`;
}
