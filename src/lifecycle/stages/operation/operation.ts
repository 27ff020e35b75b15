import { annotations, managedObjects } from '../../../api/names.ts';
import { claims, secrets, statefulSets } from '../../../kube/core-resources.ts';
import { failedUpgrade, imageOf } from '../../model/mariadb/image-change.ts';
import { loginOf } from '../../model/mariadb/login.ts';
import {
  type FailedRestore,
  type Operation,
  type OperationRecord,
  recordIn,
  textOf,
} from '../../model/mariadb/operation-record.ts';
import type { Observed } from '../../model/stage.ts';
import { restoreRequest } from '../backup/restore.ts';
import { renamedDatabase } from '../credentials/renamed-database.ts';
import { restoreSteps } from './restore.ts';
import { rotationSteps } from './rotation.ts';
import { upgradeSteps } from './upgrade.ts';
import type { Steps } from './verdict.ts';

const steps: Readonly<Record<Operation['kind'], Steps>> = {
  restore: restoreSteps,
  rotation: rotationSteps,
  upgrade: upgradeSteps,
};

/** Milliseconds until an operation gives up, while nothing has changed. */
const deadlineMs = { restore: 4 * 3_600_000, rotation: 1_800_000, upgrade: 4 * 3_600_000 } as const;

/** Operation requested by a user. */
type Request = Pick<Operation, 'kind' | 'request'>;

/** The database's operation, as far as the objects show it. */
export interface OperationState {
  /** The stored operation: the source for all effects. Undefined: none. */
  readonly operation?: Operation;
  /** The last failed restore with changed data. */
  readonly failedRestore?: FailedRestore;
  /** Reason for waiting. */
  readonly why?: string;
  /** Requests waiting for the operation or a backup. */
  readonly waiting: readonly string[];
  /** Annotation text to store; undefined: no change. */
  readonly text?: string;
  readonly unreadable?: string;
}

/**
 * Decides the next step of the operation on the database. At most one operation is stored. Effects begin
 * once the claim has the operation.
 */
export function operationOf(observed: Observed): OperationState {
  const { objects } = observed;
  const { operation, failedRestore, unreadable } = recordIn(observed);
  if (unreadable !== undefined) return { unreadable, waiting: [] };
  const failed = failedRestore ? { failedRestore } : {};
  const requests = requestsIn(observed);
  if (operation) {
    const others = requests.filter((one) => !isSame(one, operation)).map(nameOf);
    return {
      operation,
      ...failed,
      ...advanced(observed, operation, failed),
      waiting: others,
    };
  }
  const [first, ...rest] = requests;
  if (!first || !objects.find(claims, managedObjects.databaseClaim)) {
    return { ...failed, waiting: [] };
  }
  const started = { ...first, step: 'prepare', ...timesOf(first, observed.now) };
  const text = textOf({ operation: started, ...failed });
  return { ...failed, waiting: rest.map(nameOf), text };
}

function advanced(
  observed: Observed,
  operation: Operation,
  failed: Pick<OperationRecord, 'failedRestore'>,
): Pick<OperationState, 'why' | 'text'> {
  const step = steps[operation.kind][operation.step];
  if (!step) return { why: `step "${operation.step}" is of another version of lifecycle` };
  const verdict = step(observed, operation);
  if (verdict.go === 'wait') return { why: verdict.why };
  if (verdict.go === 'end') return { text: textOf(afterEnd(operation, failed)) };
  const next = { ...operation, ...verdict.change, step: verdict.step };
  return { text: textOf({ operation: next, ...failed }) };
}

/** A restore with changed data replaces an earlier failure. */
function afterEnd(
  { kind, request, outcome }: Operation,
  failed: Pick<OperationRecord, 'failedRestore'>,
): OperationRecord {
  if (kind !== 'restore' || !outcome?.touched) return failed;
  const { failure } = outcome;
  return failure === undefined ? {} : { failedRestore: { ...outcome, failure, request } };
}

/**
 * Returns the open requests in order: a restore may repair the database for the next requests. With unusable fields
 * the StatefulSet cannot change, and an operation would only wait.
 */
function requestsIn(observed: Observed): readonly Request[] {
  if (!observed.accepted.database.value) return [];
  return [...restoresIn(observed), ...rotationsIn(observed), ...upgradesIn(observed)];
}

function restoresIn(observed: Observed): readonly Request[] {
  if (!observed.accepted.backup.value) return [];
  const found = restoreRequest(observed);
  return found && 'request' in found && !found.isHandled
    ? [{ kind: 'restore', request: found.request }]
    : [];
}

/** Without a complete Secret, or with a refused database name, the credentials stage would rotate nothing. */
function rotationsIn(observed: Observed): readonly Request[] {
  const { accepted, objects, operator } = observed;
  if (renamedDatabase(observed)) return [];
  const request = operator.metadata.annotations?.[annotations.rotateCredentials];
  const secret = objects.find(secrets, managedObjects.credentials);
  if (request === undefined || !accepted.credentials.value || !loginOf(secret)) return [];
  const handled = secret?.metadata.annotations?.[annotations.rotateCredentials];
  return handled === request ? [] : [{ kind: 'rotation', request }];
}

function upgradesIn(observed: Observed): readonly Request[] {
  const { value: wanted } = observed.accepted.database;
  const live = observed.objects.find(statefulSets, managedObjects.database);
  if (!wanted || !live || live.metadata.deletionTimestamp) return [];
  const from = imageOf(live);
  if (from === undefined || from === wanted.image) return [];
  return failedUpgrade(observed, wanted.image) ? [] : [{ kind: 'upgrade', request: wanted.image }];
}

function isSame(one: Request, { kind, request }: Operation): boolean {
  return one.kind === kind && one.request === request;
}

const names = {
  restore: annotations.restore,
  rotation: annotations.rotateCredentials,
  upgrade: 'spec.database.image',
} as const;

function nameOf({ kind, request }: Request): string {
  return `${names[kind]} "${request}"`;
}

function timesOf({ kind }: Request, now: Date): Pick<Operation, 'startedAt' | 'deadline'> {
  const deadline = new Date(now.getTime() + deadlineMs[kind]);
  return { startedAt: now.toISOString(), deadline: deadline.toISOString() };
}
