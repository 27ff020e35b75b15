import { annotations, managedObjects } from '../../api/names.ts';
import { claims, jobs } from '../../kube/core-resources.ts';
import type { Problem } from '../accept/accepted.ts';
import type { BackupReport } from '../reports.ts';
import type { Observed } from '../stage.ts';
import { shortHash } from './names.ts';
import { failureOf, runResults } from './run-result.ts';

/** Restore that the annotation asks for. */
export interface RestoreRequest {
  /** Value of the annotation. */
  readonly request: string;
  /** Name of a file, or `latest`. */
  readonly file: string;
  readonly job: string;
}

/** Text after `@` makes a value new, so that the same file is restored again. */
const form = /^(latest|[A-Za-z0-9][A-Za-z0-9._-]*)(?:@.*)?$/;

/** Returns undefined without the annotation. */
export function restoreRequest({ operator }: Observed): RestoreRequest | Problem | undefined {
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
  return { request, file, job: `mariadb-restore-${shortHash(uid, request)}` };
}

/** Whether a request was carried out: the claim remembers it where a MultiNicOperator was written without its status. */
export function isHandled({ status, objects }: Observed, request: string): boolean {
  if (status.databaseStatus?.lastRestore?.request === request) return true;
  const claim = objects.find(claims, managedObjects.backup);
  return claim?.metadata.annotations?.[annotations.restore] === request;
}

/** The restore that ended last: of this request, else the one in the status. */
export function lastRestore(
  observed: Observed,
  wanted: RestoreRequest | undefined,
): BackupReport['lastRestore'] {
  const before = observed.status.databaseStatus?.lastRestore;
  if (!wanted || isHandled(observed, wanted.request)) return before;
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
  const failure = result?.reason ?? failureOf(observed.objects.find(jobs, job));
  if (failure === undefined) return undefined;
  return { request, file, at: result?.endedAt ?? observed.now.toISOString(), result: failure };
}
