import type { Random } from '../../time/clock.ts';

/** Requeue delay while the local store lags behind the API server; the missing watch event requeues the object too. */
export const lagPauseMs = 1_000;

/** Fallback requeue: a watch event normally wakes the object earlier. */
export const requeueMs = 30_000;

/** Adds a jitter of ±20 %: thousands of objects refused for the same reason must not requeue at the same moment. */
export function fallbackRequeueMs(random: Random): number {
  return Math.round(requeueMs * (0.8 + 0.4 * random()));
}

/** Fallback requeue during a stopped rollout, which wakes objects on resume. */
const stoppedRequeueMs = 300_000;

/** Returns a waiting run's requeue delay. */
export function waitingRequeueMs(why: object): number {
  const { isStopped = false, inMs }: { readonly isStopped?: boolean; readonly inMs?: number } = why;
  return inMs ?? (isStopped ? stoppedRequeueMs : requeueMs);
}
