import { type Condition, findCondition } from '../../api/condition.ts';
import type { OperatorReason } from '../../api/reasons.ts';
import { holdCodeOf } from '../../api/removals.ts';
import { type ConfigObject, generationOf, statusOf } from '../model/openstack-config.ts';

const reason = 'RemovalHeld' satisfies OperatorReason;

type Reported = Pick<Condition, 'reason' | 'message'>;

/** True if a condition or problem reports removals above a budget. */
export function isOverBudget(reported: Reported | undefined): boolean {
  return reported?.reason === reason && holdCodeOf(reported.message) === 'OverBudget';
}

/** Returns the Ready condition written since the deletion: only a live object's status has Delivered. */
export function deletionCondition(object: ConfigObject): Condition | undefined {
  const { conditions } = statusOf(object);
  return findCondition(conditions, 'Delivered') ? undefined : findCondition(conditions, 'Ready');
}

/**
 * True if the last sync, perhaps by an earlier version, held this generation's removals above a budget: they wait for
 * consent or an undo. `status.heldRemovals` names the NICs, and outlives failed syncs.
 */
export function waitsForConsent(object: ConfigObject): boolean {
  const delivered = findCondition(statusOf(object).conditions, 'Delivered');
  return isOverBudget(delivered) && delivered?.observedGeneration === generationOf(object);
}

/** True if the operator, not a controller, holds the reported removals. */
export function isOperatorHold({ reason: found, message }: Reported): boolean {
  const code = holdCodeOf(message);
  return found === reason && (code === 'OverBudget' || code === 'SideEffect');
}
