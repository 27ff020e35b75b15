import type { Condition } from '../../api/condition.ts';
import type { OperatorReason } from '../../api/reasons.ts';

const observed = 'Observed' satisfies OperatorReason;

/** Returns whether Ready reports a successful sync. In mode Observe, Ready stays Unknown because nothing is applied. */
export function isSynced(ready: Pick<Condition, 'status' | 'reason'> | undefined): boolean {
  return ready?.status === 'True' || ready?.reason === observed;
}
