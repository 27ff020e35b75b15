import type { ConditionUpdate } from '../../api/condition.ts';
import { pauseMessage, pauseOf } from '../../api/pause.ts';
import type { Failure } from '../jobs/runner.ts';
import type { NodeConfig } from '../objects/stores.ts';

/**
 * Returns why no agent may run for an object; undefined: not paused. Deletion ends a pause, because the user requests
 * the clean-up.
 */
export function pausedIn(config: Pick<NodeConfig, 'metadata'>): Failure | undefined {
  const pause = pauseOf(config);
  if (!pause.isPaused || config.metadata.deletionTimestamp !== undefined) return undefined;
  return { reason: 'Paused', message: pauseMessage(pause, 'no agent is started on the node') };
}

/** Returns the condition Paused for a paused object. */
export function pausedCondition(config: Pick<NodeConfig, 'metadata'>): ConditionUpdate[] {
  const pause = pausedIn(config);
  return pause ? [{ type: 'Paused', status: 'True', ...pause }] : [];
}
