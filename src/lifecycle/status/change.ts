import { rfc3339 } from '../../api/condition.ts';
import type { MultiNicOperatorStatus } from '../../api/multinicoperator.ts';
import { isSameJson } from '../../api/same-json.ts';

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
