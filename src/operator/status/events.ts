import { type Condition, findCondition } from '../../api/condition.ts';
import type { EventRecorder } from '../../kube/events.ts';
import type { ConfigObject } from '../openstack-config.ts';
import { statusOf } from '../openstack-config.ts';

/** Tells people when Ready changes its status or reason; that nothing changed is no event. */
export function recordReady(
  recorder: Pick<EventRecorder, 'record'>,
  object: ConfigObject,
  conditions: readonly Condition[] | undefined,
): void {
  const before = findCondition(statusOf(object).conditions, 'Ready');
  const now = findCondition(conditions, 'Ready');
  if (!now?.reason || now.reason === 'NoChange') return;
  if (before?.status === now.status && before.reason === now.reason) return;
  const type = now.status === 'True' || now.reason === 'Deleting' ? 'Normal' : 'Warning';
  recorder.record(object, { type, reason: now.reason, message: now.message ?? '' });
}
