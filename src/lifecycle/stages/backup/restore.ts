import { annotations } from '../../../api/names.ts';
import type { Problem } from '../../model/accepted.ts';
import { recordIn } from '../../model/mariadb/operation-record.ts';
import {
  acceptedEmpty,
  emptyRequest,
  handledRestore,
  isEmptyValue,
} from '../../model/mariadb/volume.ts';
import type { BackupReport } from '../../model/reports.ts';
import type { Observed } from '../../model/stage.ts';

/** Restore requested by the annotation. */
export interface RestoreRequest {
  /** Annotation value. */
  readonly request: string;
  /** True: the operation has ended. */
  readonly isHandled: boolean;
}

/**
 * `before-restore` undoes the last restore that changed anything. `!`: without a backup before the restore. Text after
 * `@` makes a value new, to restore the same file again.
 */
const form = /^(latest|[A-Za-z0-9][A-Za-z0-9._-]*)(!?)(?:@.*)?$/;

/** Returns undefined without the annotation. */
export function restoreRequest(observed: Observed): RestoreRequest | Problem | undefined {
  const request = observed.operator.metadata.annotations?.[annotations.restore];
  if (request === undefined || request === '' || emptyRequest(observed)) return undefined;
  if (!form.test(request)) {
    return {
      field: `metadata.annotations[${annotations.restore}]`,
      message: `${annotations.restore} "${request}" is neither latest, before-restore nor the name of a file on the backup volume; set latest, before-restore or a name such as multinic-20260101T030000Z.sql, with ! to restore without a backup before the restore, and @TEXT to repeat a restore`,
    };
  }
  return { request, isHandled: isHandled(observed, request) };
}

/** Returns the answer to a request that has ended, because an annotation with the same value changes nothing. */
export function answerOf(observed: Observed): string | undefined {
  const found = restoreRequest(observed);
  if (!found || 'field' in found || !found.isHandled) return undefined;
  const { request } = found;
  const last = lastRestore(observed);
  const end = last?.request === request ? endOf(last) : 'was handled earlier';
  return `${annotations.restore} "${request}" ${end}; append @TEXT to repeat it, for example ${repeated(request)}`;
}

function endOf({ at, result }: NonNullable<BackupReport['lastRestore']>): string {
  return result === 'Succeeded' ? `succeeded at ${at}` : `failed at ${at}`;
}

/** Returns an example that differs from the present value. */
function repeated(request: string): string {
  const [plain = request, text] = request.split('@');
  return text === '2' ? `${plain}@3` : `${plain}@2`;
}

/** Returns file name (or `latest`) and whether the present data is dumped first. */
export function restoreTask(request: string): { readonly file: string; readonly safety: boolean } {
  const [, file = request, mark] = form.exec(request) ?? [];
  return { file, safety: mark !== '!' };
}

function isHandled(observed: Observed, request: string): boolean {
  const { lastRestore: last } = observed.status.databaseStatus ?? {};
  return last?.request === request || handledRestore(observed) === request;
}

/**
 * Returns the request to store on the backup claim: the ending restore, an accepted empty volume, otherwise the last
 * restore.
 */
export function notedRequest(observed: Observed): string | undefined {
  const { operation } = recordIn(observed);
  if (operation?.kind === 'restore' && operation.outcome) return operation.request;
  return (
    acceptedEmpty(observed) ??
    handledRestore(observed) ??
    observed.status.databaseStatus?.lastRestore?.request
  );
}

/** True if the user accepted an empty volume after the last restore, and no restore runs. */
export function isEmptyAccepted(observed: Observed): boolean {
  const isRestoring = recordIn(observed).operation?.kind === 'restore';
  return !isRestoring && isEmptyValue(notedRequest(observed));
}

/** Returns the last restore: the ending restore, otherwise the restore in the status. */
export function lastRestore(observed: Observed): BackupReport['lastRestore'] {
  const { operation, failedRestore } = recordIn(observed);
  const before = observed.status.databaseStatus?.lastRestore;
  if (operation?.kind === 'restore' && operation.outcome) {
    const { file, at, failure = 'Succeeded' } = operation.outcome;
    return { request: operation.request, file, at, result: failure };
  }
  if (before || !failedRestore) return before;
  const { request, file, at, failure } = failedRestore;
  return { request, file, at, result: failure };
}
