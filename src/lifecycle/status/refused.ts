import type { MultiNicOperatorStatus } from '../../api/multinicoperator.ts';
import type { Problem } from '../accept/accepted.ts';
import type { OperatorObject } from '../multinicoperator.ts';

/** The status of an object with which lifecycle does nothing. */
export function refusedStatus(
  _operator: OperatorObject,
  _before: MultiNicOperatorStatus,
  _problem: Problem,
  _now: Date,
): MultiNicOperatorStatus {
  throw new Error('not written yet');
}
