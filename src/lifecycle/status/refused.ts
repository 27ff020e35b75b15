import { type Condition, setCondition, shortMessage } from '../../api/condition.ts';
import type { MultiNicOperatorStatus } from '../../api/multinicoperator.ts';
import type { Reason } from '../../api/reasons.ts';
import type { Problem } from '../model/accepted.ts';
import type { OperatorObject } from '../model/multinicoperator.ts';
import { countsOf, withLastUpdated } from './change.ts';
import { update } from './conditions.ts';

/** Returns the status of an object ignored by lifecycle: no components. */
export function refusedStatus(
  operator: OperatorObject,
  before: MultiNicOperatorStatus,
  { message }: Problem,
  now: Date,
): MultiNicOperatorStatus {
  const { generation = 0 } = operator.metadata;
  const reason: Reason = 'NotResponsible';
  const updates = [
    update('Ready', false, reason, message),
    update('Accepted', false, reason, message),
    update('Stalled', true, reason, message),
  ];
  const counts = countsOf(before);
  const status = {
    observedGeneration: generation,
    phase: 'Error',
    message: shortMessage(message),
    conditions: updates.reduce<Condition[]>(
      (list, one) => setCondition(list, one, { now, generation }),
      before.conditions ?? [],
    ),
    ...(Object.keys(counts).length === 0 ? {} : { protectionStatus: counts }),
  };
  return withLastUpdated(before, status, now);
}
