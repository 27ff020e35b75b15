import type { OperatorObject } from '../multinicoperator.ts';
import type { Accepted } from './accepted.ts';

/** Checks a MultiNicOperator stage by stage; what cannot be used is named, with its value and what to do. */
export function accept(_operator: OperatorObject, _now: Date): Accepted {
  throw new Error('not written yet');
}
