import type { MultiNicOperatorStatus } from '../../api/multinicoperator.ts';
import type { OperatorObject } from '../multinicoperator.ts';
import type { Outcomes } from '../outcome.ts';

export interface StatusInput {
  readonly operator: OperatorObject;
  readonly before: MultiNicOperatorStatus;
  readonly outcomes: Outcomes;
  /** Whether the webhook of this process answers through the API server's address. */
  readonly webhookAnswers: boolean;
  readonly now: Date;
}

/** The status of a MultiNicOperator; equal to the one before when nothing changed. */
export function statusAfter(_input: StatusInput): MultiNicOperatorStatus {
  throw new Error('not written yet');
}
