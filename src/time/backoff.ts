import type { Random } from './clock.ts';

/** Retry delays, growing from `baseMs` to `maxMs`. */
export interface Backoff {
  readonly baseMs: number;
  readonly maxMs: number;
}

/** Adds ±20 % jitter: clients failing together must not retry together. */
export function jittered(ms: number, random: Random): number {
  return ms * (0.8 + 0.4 * random());
}

/** Returns the delay (ms) before retry number `attempt` (first: 0): base x 2^attempt, capped, jittered. */
export function backoffMs(attempt: number, { baseMs, maxMs }: Backoff, random: Random): number {
  return jittered(Math.min(baseMs * 2 ** Math.min(attempt, 30), maxMs), random);
}
