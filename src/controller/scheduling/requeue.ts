import type { Random } from '../../time/clock.ts';

/** Requeue delay while the local store lags behind the API server; the missing watch event requeues the object too. */
export const lagPauseMs = 1_000;

/** Fallback requeue: a watch event normally wakes the object earlier. */
export const requeueMs = 30_000;

/** Adds a jitter of ±20 %: thousands of objects refused for the same reason must not requeue at the same moment. */
export function fallbackRequeueMs(random: Random): number {
  return Math.round(requeueMs * (0.8 + 0.4 * random()));
}
