import { type Condition, findCondition } from '../../api/condition.ts';
import { reasons } from '../../api/reasons.ts';

/** Label value for a reason outside the table. */
export const otherReason = 'Other';

interface Status {
  readonly conditions?: readonly Condition[] | undefined;
}

/** Returns the reason of a condition Ready with status False, as a label value; undefined: Ready is not False. */
export function whyNotReady(status: Status | undefined): string | undefined {
  const ready = findCondition(status?.conditions, 'Ready');
  if (ready?.status !== 'False' || ready.reason === undefined) return undefined;
  // Any writer may set any reason in a status, and a metric series never expires.
  return Object.hasOwn(reasons, ready.reason) ? ready.reason : otherReason;
}
