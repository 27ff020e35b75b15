import type { Random } from './clock.ts';

/** Pauses that grow from `baseMs` to `maxMs`. */
export interface Backoff {
  readonly baseMs: number;
  readonly maxMs: number;
}

/** ±20 %, so that clients which failed together do not come back together. */
export function jittered(ms: number, random: Random): number {
  return ms * (0.8 + 0.4 * random());
}

/** Milliseconds before retry number `attempt` (the first is 0): base x 2^attempt, capped, jittered. */
export function backoffMs(attempt: number, { baseMs, maxMs }: Backoff, random: Random): number {
  return jittered(Math.min(baseMs * 2 ** Math.min(attempt, 30), maxMs), random);
}
