import { type ConditionUpdate, maxMessage } from '../../api/condition.ts';
import { isBeyondApply, type JobResult } from '../../api/job.ts';
import { interfaceName } from '../../api/names.ts';
import type { Reason } from '../../api/reasons.ts';
import { type Applied, completionOf } from '../jobs/applied.ts';
import { isOpen } from '../jobs/evidence.ts';
import type { Failure } from '../jobs/runner.ts';
import { unreadable } from '../scheduling/terms.ts';
import { nicTexts } from '../status/nic-texts.ts';

/**
 * Marks the record incomplete, due to drift or an unsupported check: the contents are applied again. The attempt still
 * counts as successful.
 */
export function undone(applied: Applied, why: readonly Reason[]): Applied {
  const reasons = [...new Set(why)].slice(0, 20);
  const { basis, ...rest } = applied;
  // Drift is no reason to remove a NIC: a NIC that came back since needs a new decision.
  const used = basis ? { basis: { ...basis, used: true } } : {};
  return { ...rest, ...used, worked: applied.attempt, done: false, reasons };
}

/** Returns the check as the source of `knownInterfaces`, if the agent listed the NICs. */
export function knownFromCheck({ objectUid }: Applied, { known }: JobResult, job: string) {
  return known && objectUid !== undefined ? { knownFrom: { uid: objectUid, job } } : {};
}

/**
 * True if only an apply can resolve the failure: an apply may supersede a newer fence on the host, and older agents
 * support apply but not checks.
 */
export function isForApply({ reason }: Failure, heals: boolean): boolean {
  return reason === 'StaleRequest' || (heals && unreadable.has(reason));
}

/** Returns reasons for a repeated apply; failures beyond an apply only change status and Ready. */
export function driftIn(result: JobResult): readonly Reason[] {
  const nics = result.nics.filter((nic) => !isBeyondApply(nic));
  const isAllElseRight = nics.length < result.nics.length && !nics.some(isOpen);
  return isAllElseRight
    ? []
    : completionOf({ kind: 'result', result: { ...result, nics } }).reasons;
}

export function drifted({ nics, warnings }: JobResult): ConditionUpdate {
  const open = nics.filter((nic) => isOpen(nic) && !isBeyondApply(nic));
  const findings = open.map(({ index, ...nic }) => ({ ...nic, name: interfaceName(index) }));
  const message = open.length > 0 ? nicTexts(findings, maxMessage) : warnings.join('; ');
  return { type: 'Drifted', status: 'True', reason: 'Drifted', message };
}
