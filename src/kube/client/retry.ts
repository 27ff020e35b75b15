import { backoffMs } from '../../time/backoff.ts';
import type { Random } from '../../time/clock.ts';
import type { KubeError } from '../errors.ts';

const maxRetries = 3;
const backoff = { baseMs: 250, maxMs: 5_000 };

/** A longer wait is the caller's to decide: its work queue keeps the key and frees the worker. */
const longestWaitMs = 10_000;

/**
 * How long to wait before trying again, or undefined when the error is the answer. A 429 was not executed, so that
 * anything may be repeated; after 502, 503, 504 or a lost connection nobody knows, so that only what may happen twice is.
 */
export function retryAfter(
  error: KubeError,
  { attempt, repeatable, random }: { attempt: number; repeatable: boolean; random: Random },
): number | undefined {
  if (attempt >= maxRetries) return undefined;
  if (error.status !== 429 && !(repeatable && isPassing(error))) return undefined;
  const waitMs = Math.max(error.retryAfterMs ?? 0, backoffMs(attempt, backoff, random));
  return waitMs <= longestWaitMs ? waitMs : undefined;
}

function isPassing({ status, reason }: KubeError): boolean {
  return status === 502 || status === 503 || status === 504 || reason === 'Unreachable';
}
