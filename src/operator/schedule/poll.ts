import { backoffMs } from '../../time/backoff.ts';
import type { Random } from '../../time/clock.ts';

/** Nothing polls more often than this: a listing of a large project takes OpenStack longer. */
export const shortestPollMs = 1_000;

/** How often one OpenstackConfig is looked at. */
export interface Polling {
  readonly fastMs: number;
  readonly slowMs: number;
  readonly errorMs: number;
  /** How long polling stays fast after a change; 0 = it never is. */
  readonly windowMs: number;
}

/** What the next poll depends on. */
export interface PollState {
  /** Syncs in a row that ended with a failed step. */
  readonly failures: number;
  /** How long the failed service asks to wait. */
  readonly retryAfterMs?: number | undefined;
  /** Since the last change of the OpenstackConfig or of a node; undefined = longer than this process runs. */
  readonly sinceChangeMs: number | undefined;
  /** Something is under way elsewhere that ends soon: a name that becomes free, an object that goes. */
  readonly waiting: boolean;
  /** Ports are DOWN and have fast looks left. */
  readonly downPorts: boolean;
}

/** Whatever a service asks for, a change is not missed for longer. */
const longestErrorMs = 300_000;

/** Milliseconds until the next poll, with ±20 % so that many OpenstackConfigs do not poll together. */
export function nextPollMs(polling: Polling, state: PollState, random: Random): number {
  if (state.failures > 0) {
    const maxMs = Math.max(longestErrorMs, polling.errorMs);
    const wait = backoffMs(state.failures - 1, { baseMs: polling.errorMs, maxMs }, random);
    return Math.max(wait, Math.min(state.retryAfterMs ?? 0, longestErrorMs));
  }
  const { sinceChangeMs, waiting, downPorts } = state;
  const changed = sinceChangeMs !== undefined && sinceChangeMs < polling.windowMs;
  const fast = changed || waiting || downPorts;
  return (fast ? polling.fastMs : polling.slowMs) * (0.8 + 0.4 * random());
}
