import { type Condition, findCondition } from '../api/condition.ts';
import { type Reason, reasons } from '../api/reasons.ts';
import type { EventRecorder } from '../kube/events.ts';
import type { NodeConfig } from './node-config.ts';

/** Tells people what became of an object, once for each change of its condition Ready. */
export function recordReady(
  recorder: Pick<EventRecorder, 'record'>,
  config: NodeConfig,
  conditions: readonly Condition[],
): void {
  const before = findCondition(config.status?.conditions, 'Ready');
  const now = findCondition(conditions, 'Ready');
  if (!now?.reason || now.status === 'Unknown') return;
  if (before?.status === now.status && before.reason === now.reason) return;
  recorder.record(config, {
    type: now.status === 'True' ? 'Normal' : 'Warning',
    reason: now.reason,
    message: now.message ?? meaningOf(now.reason),
  });
}

function meaningOf(reason: string): string {
  return reason in reasons ? reasons[reason as Reason].meaning.en : '';
}
