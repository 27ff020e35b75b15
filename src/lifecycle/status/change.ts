import { rfc3339 } from '../../api/condition.ts';
import type { MultiNicOperatorStatus } from '../../api/multinicoperator.ts';
import { isSameJson } from '../../api/same-json.ts';
import type { Change } from '../../kube/cache/store.ts';
import { type OperatorObject, statusOf } from '../multinicoperator.ts';

/** The status with `lastUpdated`, which moves only with another field; the same object when nothing changed. */
export function withLastUpdated(
  before: MultiNicOperatorStatus,
  status: Omit<MultiNicOperatorStatus, 'lastUpdated'>,
  now: Date,
): MultiNicOperatorStatus {
  const { lastUpdated, ...rest } = before;
  if (lastUpdated !== undefined && isSameJson(rest, status)) return before;
  return { ...status, lastUpdated: rfc3339(now) };
}

/** Returns the counts of refusals, which every replica writes by itself; the status writer passes them on. */
export function countsOf({ protectionStatus }: MultiNicOperatorStatus) {
  const { preventedMutations, lastProtectionEvent } = protectionStatus ?? {};
  return {
    ...(preventedMutations === undefined ? {} : { preventedMutations }),
    ...(lastProtectionEvent === undefined ? {} : { lastProtectionEvent }),
  };
}

/**
 * Whether a change of a MultiNicOperator needs no reconcile: nothing differs but the part of the status that no stage
 * reads. A status with an error whose text is never the same would otherwise reconcile without a pause.
 */
export function isReportOnly(change: Change<OperatorObject>): boolean {
  return (
    change.type === 'updated' && isSameJson(decisive(change.previous), decisive(change.object))
  );
}

/** Stages read `databaseStatus`: backups and restores that have ended. */
function decisive(operator: OperatorObject) {
  const { metadata, status: _, ...rest } = operator;
  const { resourceVersion: _version, managedFields: _managers, ...own } = metadata;
  return { ...rest, metadata: own, databaseStatus: statusOf(operator).databaseStatus };
}
