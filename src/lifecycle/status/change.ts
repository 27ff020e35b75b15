import { rfc3339 } from '../../api/condition.ts';
import type { MultiNicOperatorStatus } from '../../api/multinicoperator.ts';
import { isSameJson } from '../../api/same-json.ts';
import type { Change } from '../../kube/cache/store.ts';
import { type OperatorObject, statusOf } from '../model/multinicoperator.ts';

/**
 * Returns the status with `lastUpdated`, which changes only with another field; returns the same object if nothing
 * changed.
 */
export function withLastUpdated(
  before: MultiNicOperatorStatus,
  status: Omit<MultiNicOperatorStatus, 'lastUpdated'>,
  now: Date,
): MultiNicOperatorStatus {
  const { lastUpdated, ...rest } = before;
  if (lastUpdated !== undefined && isSameJson(rest, status)) return before;
  return { ...status, lastUpdated: rfc3339(now) };
}

/** Returns the refusal counts, which every replica writes itself; the status writer passes them on. */
export function countsOf({ protectionStatus }: MultiNicOperatorStatus) {
  const { preventedMutations, lastProtectionEvent } = protectionStatus ?? {};
  return {
    ...(preventedMutations === undefined ? {} : { preventedMutations }),
    ...(lastProtectionEvent === undefined ? {} : { lastProtectionEvent }),
  };
}

/**
 * True if a change needs no reconcile: only status parts that no stage reads differ. Otherwise an error with varying
 * text would reconcile without backoff.
 */
export function isReportOnly(change: Change<OperatorObject>): boolean {
  return (
    change.type === 'updated' && isSameJson(decisive(change.previous), decisive(change.object))
  );
}

/** Stages read `databaseStatus`: finished backups and restores. */
function decisive(operator: OperatorObject) {
  const { metadata, status: _, ...rest } = operator;
  const { resourceVersion: _version, managedFields: _managers, ...own } = metadata;
  return { ...rest, metadata: own, databaseStatus: statusOf(operator).databaseStatus };
}
