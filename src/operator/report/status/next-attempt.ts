import type { OpenstackConfigStatus } from '../../../api/openstackconfig.ts';
import type { ConfigContext } from '../../model/memory/config-memory.ts';

/** Next attempt to sync or to delete. */
export interface NextAttempt {
  /** Milliseconds until the next poll. */
  readonly ms: number;
  /** Undefined: only a new cause starts an attempt, such as an edit or a call of the trigger endpoint. */
  readonly at: Date | undefined;
}

/** Trigger policy, as far as a status after an attempt needs the policy. */
export interface AttemptSchedule {
  /** Returns `at` of NextAttempt after an attempt with this status. */
  nextAttemptAt(
    context: ConfigContext,
    status: OpenstackConfigStatus,
    pollMs: number,
  ): Date | undefined;
}
