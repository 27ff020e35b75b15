import type { ConditionUpdate } from '../../api/condition.ts';
import { pauseMessage, pauseOf } from '../../api/pause.ts';
import type { Failure } from '../jobs/runner.ts';
import type { NodeConfig } from '../objects/stores.ts';

/**
 * Returns why no agent may be sent for an object; undefined if it is not paused. Its deletion ends the pause: the clean-up of
 * its node is what a user asks for then.
 */
export function pausedIn(config: Pick<NodeConfig, 'metadata'>): Failure | undefined {
  const pause = pauseOf(config);
  if (!pause.isPaused || config.metadata.deletionTimestamp !== undefined) return undefined;
  return { reason: 'Paused', message: pauseMessage(pause, 'no agent is sent to the node') };
}

/** The condition Paused, which an object has while it is paused. */
export function pausedCondition(config: Pick<NodeConfig, 'metadata'>): ConditionUpdate[] {
  const pause = pausedIn(config);
  return pause ? [{ type: 'Paused', status: 'True', ...pause }] : [];
}
