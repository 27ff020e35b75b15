import { type Condition, findCondition } from '../../api/condition.ts';
import { reasons } from '../../api/reasons.ts';
import { nodeNotReady } from '../objects/unready-nodes.ts';

/** Label value for a reason outside the table. */
export const otherReason = 'Other';

interface Status {
  readonly conditions?: readonly Condition[] | undefined;
}

/**
 * Returns why Ready is False, or Unknown because a node has not been ready, as a label value; undefined: neither. Any
 * other Unknown is normal progress.
 */
export function whyNotReady(status: Status | undefined): string | undefined {
  const ready = findCondition(status?.conditions, 'Ready');
  if (ready?.reason === undefined || ready.status === 'True') return undefined;
  if (ready.status === 'Unknown' && ready.reason !== nodeNotReady) return undefined;
  // Any writer may set any reason in a status, and a metric series never expires.
  return Object.hasOwn(reasons, ready.reason) ? ready.reason : otherReason;
}
