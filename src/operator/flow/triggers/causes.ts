import { type Condition, findCondition } from '../../../api/condition.ts';
import type { OperatorReason } from '../../../api/reasons.ts';
import type { TriggerPolicy } from '../../../triggers/policy.ts';
import {
  type ConfigObject,
  generationOf,
  hasRemovalApproval,
  reconcileAtOf,
  statusOf,
  takeOverFromOf,
} from '../../model/openstack-config.ts';
import { isSynced } from '../../model/ready.ts';
import { standing } from '../../model/standing-reasons.ts';

/**
 * Why an OpenstackConfig is synced. `asked`: a user or a trigger call requested a sync. `unfinished`: a service failed,
 * a node waits, a removal is unconfirmed, or a process ended during a sync. Both start a sync in every mode. `time`:
 * the schedule. `poll`: a regular poll for changes.
 */
export type Cause = 'asked' | 'unfinished' | 'change' | 'time' | 'poll';

/** Causes found in the OpenstackConfig. */
export interface SyncCauses {
  readonly asked: boolean;
  readonly unfinished: boolean;
  /** The object is new, edited, or no longer paused. */
  readonly changed: boolean;
}

/** Returns why a sync may start now; undefined: no sync may start. */
export function causeOf(
  { mode, onChange }: TriggerPolicy,
  { asked, unfinished, changed }: SyncCauses,
  isDue: boolean,
): Cause | undefined {
  if (asked) return 'asked';
  if (unfinished) return 'unfinished';
  if (changed && onChange) return 'change';
  if (isDue) return 'time';
  return mode === 'immediate' ? 'poll' : undefined;
}

/** Milliseconds for which delivered NICs are followed until configured, even when nothing else starts a sync. */
const followedMs = 15 * 60_000;
const underWay: ReadonlySet<string> = new Set<OperatorReason>([
  'NICsNotConfigured',
  'NoNodeStatus',
]);

/** Returns whether agents may still configure delivered NICs; then syncs update `NICsReady`. */
function isFollowed(conditions: readonly Condition[] | undefined, now: Date): boolean {
  const { reason = '', lastTransitionTime } = findCondition(conditions, 'NICsReady') ?? {};
  if (!underWay.has(reason) || lastTransitionTime === undefined) return false;
  return now.getTime() - Date.parse(lastTransitionTime) < followedMs;
}

function isWaiting(conditions: readonly Condition[] | undefined): boolean {
  return findCondition(conditions, 'Reconciling')?.reason === 'Waiting';
}

/** `reasons`: why the object was not Ready after this process' last sync; empty: Ready, or no sync yet. */
export function syncCausesOf(
  object: ConfigObject,
  reasons: ReadonlySet<string>,
  now: Date,
): SyncCauses {
  const status = statusOf(object);
  const { conditions, observedGeneration } = status;
  const ready = findCondition(conditions, 'Ready');
  const changed =
    observedGeneration !== generationOf(object) ||
    findCondition(conditions, 'Paused') !== undefined ||
    ready?.reason === 'WaitingForTrigger';
  const waits = isFollowed(conditions, now) || isWaiting(conditions);
  const failed =
    !isSynced(ready) &&
    (reasons.size === 0 || [...reasons].some((reason) => !standing.has(reason)));
  const unfinished = !changed && (waits || failed);
  return { asked: isAsked(object), unfinished, changed };
}

/** Returns whether an annotation requests an action that is still open. */
function isAsked(object: ConfigObject): boolean {
  const { lastHandledReconcileAt, conditions } = statusOf(object);
  const reconcileAt = reconcileAtOf(object);
  const inConflict = findCondition(conditions, 'Ready')?.reason === 'NameConflict';
  return (
    (reconcileAt !== '' && reconcileAt !== lastHandledReconcileAt) ||
    hasRemovalApproval(object) ||
    (inConflict && takeOverFromOf(object) !== '')
  );
}
