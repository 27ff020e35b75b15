import { type Condition, findCondition } from '../../api/condition.ts';
import type { OperatorReason } from '../../api/reasons.ts';
import type { TriggerPolicy } from '../../triggers/policy.ts';
import {
  type ConfigObject,
  generationOf,
  hasRemovalApproval,
  reconcileAtOf,
  statusOf,
  takeOverFromOf,
} from '../openstack-config.ts';

/**
 * Why an OpenstackConfig is looked at. `asked`: a person or a call said so, for this object. `unfinished`: what an earlier
 * look began has not come to its end: a service failed, a node waits, nothing proves yet that a NIC is gone, or a process
 * ended in between. Both hold in every mode. `time`: the schedule. `poll`: anything else, a mere look for what is new.
 */
export type Cause = 'asked' | 'unfinished' | 'change' | 'time' | 'poll';

/** What an OpenstackConfig itself says of a look at it. */
export interface Situation {
  readonly asked: boolean;
  readonly unfinished: boolean;
  /** It is new, was edited, or is paused no longer. */
  readonly changed: boolean;
}

/** Why it may be looked at now; undefined = it may not. */
export function causeOf(
  { mode, onChange }: TriggerPolicy,
  { asked, unfinished, changed }: Situation,
  isDue: boolean,
): Cause | undefined {
  if (asked) return 'asked';
  if (unfinished) return 'unfinished';
  if (changed && onChange) return 'change';
  if (isDue) return 'time';
  return mode === 'immediate' ? 'poll' : undefined;
}

/**
 * Of these nobody but a person makes an end, in OpenStack or in the object. To go on looking whether somebody has is to
 * poll; every other reason ends by itself.
 */
export const standing: ReadonlySet<string> = new Set<OperatorReason>([
  'ConfigError',
  'PolicyDenied',
  'SubnetRequired',
  'SubnetNotFound',
  'SubnetNotUnique',
  'ServerNotFound',
  'ServerNotUnique',
  'InterfaceLimitExceeded',
  'NameConflict',
  'InvalidNodeName',
  'InvalidPort',
  'RemovalHeld',
  'RemovalUnsupported',
]);

/** So long NICs that were delivered are followed until they are configured, also where nothing else starts a sync. */
const followedMs = 15 * 60_000;
const underWay: ReadonlySet<string> = new Set<OperatorReason>([
  'NICsNotConfigured',
  'NoNodeStatus',
]);

/** Whether agents may still be at work for what was delivered: `NICsReady` has to follow them. */
function isFollowed(conditions: readonly Condition[] | undefined, now: Date): boolean {
  const { reason = '', lastTransitionTime } = findCondition(conditions, 'NICsReady') ?? {};
  if (!underWay.has(reason) || lastTransitionTime === undefined) return false;
  return now.getTime() - Date.parse(lastTransitionTime) < followedMs;
}

function isWaiting(conditions: readonly Condition[] | undefined): boolean {
  return findCondition(conditions, 'Reconciling')?.reason === 'Waiting';
}

/** `reasons`: why it was not Ready after the last look of this process; none = it was, or nobody has looked. */
export function situationOf(
  object: ConfigObject,
  reasons: ReadonlySet<string>,
  now: Date,
): Situation {
  const status = statusOf(object);
  const { conditions, observedGeneration } = status;
  const ready = findCondition(conditions, 'Ready');
  const changed =
    observedGeneration !== generationOf(object) ||
    findCondition(conditions, 'Paused') !== undefined ||
    ready?.reason === 'WaitingForTrigger';
  const waits = isFollowed(conditions, now) || isWaiting(conditions);
  const failed =
    ready?.status !== 'True' &&
    (reasons.size === 0 || [...reasons].some((reason) => !standing.has(reason)));
  const unfinished = !changed && (waits || failed);
  return { asked: isAsked(object), unfinished, changed };
}

/** Whether an annotation asks for what has not been done yet. */
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
