import type { Random } from './clock.ts';

export interface BackoffOptions {
  readonly baseMs: number;
  readonly maxMs: number;
}

/**
 * Milliseconds to wait before try number `attempt` (0 = first retry): base x 2^attempt, capped, with ±20 % jitter
 * so that clients which failed together do not come back together.
 */
export function backoffMs(attempt: number, { baseMs, maxMs }: BackoffOptions, random: Random) {
  const exponential = Math.min(baseMs * 2 ** Math.min(attempt, 30), maxMs);
  return exponential * (0.8 + 0.4 * random());
}
