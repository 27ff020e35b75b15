import { backoffMs } from '../../time/backoff.ts';
import type { Random } from '../../time/clock.ts';
import type { KubeError } from '../errors.ts';

const maxRetries = 3;
const backoff = { baseMs: 250, maxMs: 5_000 };

/** For longer waits the caller decides: its work queue keeps the key and frees the worker. */
const maxWaitMs = 10_000;

/**
 * Returns the delay before a retry; undefined if the error is final. After a 429 the request was not executed: every
 * request may be retried. After 502, 503, 504 or a lost connection the outcome is unknown: only idempotent requests
 * are retried.
 */
export function retryAfter(
  error: KubeError,
  { attempt, repeatable, random }: { attempt: number; repeatable: boolean; random: Random },
): number | undefined {
  if (attempt >= maxRetries) return undefined;
  if (error.status !== 429 && !(repeatable && isTransient(error))) return undefined;
  const waitMs = Math.max(error.retryAfterMs ?? 0, backoffMs(attempt, backoff, random));
  return waitMs <= maxWaitMs ? waitMs : undefined;
}

function isTransient({ status, reason }: KubeError): boolean {
  return status === 502 || status === 503 || status === 504 || reason === 'Unreachable';
}
