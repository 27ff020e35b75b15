import { type Condition, findCondition } from '../../../api/condition.ts';
import type { OperatorReason } from '../../../api/reasons.ts';
import type { EventRecorder } from '../../../kube/events.ts';
import { type ConfigObject, statusOf } from '../../model/openstack-config.ts';
import { isSynced } from '../../model/ready.ts';
import { isUsualDeletion } from './conditions.ts';

/** Ready reasons without an Event from this function: none necessary, or recorded elsewhere. */
const withoutEvent: ReadonlySet<string> = new Set<OperatorReason>([
  'NoChange',
  'WaitingForTrigger',
]);

/** Records an Event when Ready changes its status or reason. */
export function recordReady(
  recorder: Pick<EventRecorder, 'record'>,
  object: ConfigObject,
  conditions: readonly Condition[] | undefined,
): void {
  const before = findCondition(statusOf(object).conditions, 'Ready');
  const now = findCondition(conditions, 'Ready');
  if (!now?.reason || withoutEvent.has(now.reason)) return;
  if (before?.status === now.status && before.reason === now.reason) return;
  const type = isSynced(now) || isUsualDeletion(now.reason) ? 'Normal' : 'Warning';
  recorder.record(object, { type, reason: now.reason, message: now.message ?? '' });
}

/** Conditions that record a Warning once. */
const warnings = [
  { type: 'CredentialsValid', reason: 'SecretInSpec' },
  { type: 'OwnerVerified', reason: 'OwnerUnverified' },
  { type: 'TLSVerified', reason: 'TLSNotVerified' },
  { type: 'ClusterUnique', reason: 'DuplicateCluster' },
] as const satisfies readonly { type: string; reason: OperatorReason }[];

/** Records a Warning for each new condition in `warnings`. */
export function recordWarnings(
  recorder: Pick<EventRecorder, 'record'>,
  object: ConfigObject,
  conditions: readonly Condition[] | undefined,
): void {
  for (const { type, reason } of warnings) {
    const withReason = (all: readonly Condition[] | undefined) => {
      const now = findCondition(all, type);
      return now?.reason === reason ? now : undefined;
    };
    const now = withReason(conditions);
    if (!now || withReason(statusOf(object).conditions)) continue;
    recorder.record(object, { type: 'Warning', reason, message: now.message ?? '' });
  }
}
