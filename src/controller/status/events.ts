import { type Condition, findCondition } from '../../api/condition.ts';
import { type Reason, reasons } from '../../api/reasons.ts';
import type { EventRecorder } from '../../kube/events.ts';
import type { OwnPod } from '../../process/part.ts';
import type { NodeConfig } from '../objects/stores.ts';

const observed = 'Observed' satisfies Reason;

/** Records an event for each change of the condition Ready. */
export function recordReady(
  recorder: Pick<EventRecorder, 'record'>,
  config: NodeConfig,
  conditions: readonly Condition[],
): void {
  const before = findCondition(config.status?.conditions, 'Ready');
  const now = findCondition(conditions, 'Ready');
  if (!now?.reason || isProgress(now)) return;
  if (before?.status === now.status && before.reason === now.reason) return;
  recorder.record(config, {
    type: now.status === 'False' ? 'Warning' : 'Normal',
    reason: now.reason,
    message: now.message ?? meaningOf(now.reason),
  });
}

/** True for normal progress; Unknown is the final status of an observed node. */
function isProgress({ status, reason }: Condition): boolean {
  return status === 'Unknown' && reason !== observed;
}

/** Records an event each time a node is found drifted. */
export function recordDrift(
  recorder: Pick<EventRecorder, 'record'>,
  config: NodeConfig,
  conditions: readonly Condition[],
): void {
  const before = findCondition(config.status?.conditions, 'Drifted');
  const now = findCondition(conditions, 'Drifted');
  if (now?.status !== 'True' || before?.status === 'True') return;
  recorder.record(config, { type: 'Warning', reason: 'Drifted', message: now.message ?? '' });
}

function meaningOf(reason: string): string {
  return reason in reasons ? reasons[reason as Reason].meaning.en : '';
}

/** Reports a missing right on the controller's Pod; undefined: the Pod is unknown. */
export function recordMissingRight(
  recorder: Pick<EventRecorder, 'record'>,
  pod: OwnPod | undefined,
  message: string,
): void {
  if (!pod) return;
  const involved = { apiVersion: 'v1', kind: 'Pod', metadata: pod };
  recorder.record(involved, { type: 'Warning', reason: 'RightsMissing', message });
}
