import type { Effect } from '../../api/effects.ts';
import type { Perform } from '../../process/effects.ts';
import type { Clock } from '../../time/clock.ts';
import { DeadlineReached, withDeadline } from '../../time/deadline.ts';

/**
 * Time (25 s) after a request's start in which Viola may send writes. Callers wait 30 s, and get no results when they
 * give up.
 *
 * Guarantees for a caller that gave up or got no answer:
 * - Viola sends no write after the caller's connection closed, nor later than 25 s after the request's start. This
 *   holds even when the process stood still and handles a reply before its timers.
 * - The API server finishes or aborts an earlier write within the `timeout` in its URL (see `appliedWithinSeconds`).
 *   Creations therefore end 40 s after the request's start, when its body was complete: within 30 s after the first
 *   byte. Consents and deletions have no `timeout` and end within 34 s (`requestTimeoutUpperBound` in Kubernetes'
 *   endpoints/handlers/rest.go).
 * - Two cases extend these limits, and only the API server can end them. A lossy network may recover: the kernel
 *   resends for about 100 s on a closed connection (default `tcp_orphan_retries`). An API server process may stand
 *   still between receiving and reading a request.
 * - A late write cannot replace newer content: updates, consents and deletions carry uid and resourceVersion. A late
 *   creation succeeds only if no object exists, for example after a deletion. Callers that must exclude a recreated
 *   object check again after 40 s.
 */
export const writeWithinMs = 25_000;

/**
 * Write timeout, longer than the default for admission webhooks (10 s). With an equal timeout `failurePolicy: Ignore`
 * has no effect (`ctx.Done()` in Kubernetes' admission/plugin/webhook/mutating/dispatcher.go), and a hanging webhook
 * would block all writes to its cluster. Slower servers are retried.
 */
export const appliedWithinSeconds = 15;

export interface WriteLimit {
  readonly clock: Clock;
  readonly signal: AbortSignal;
  readonly perform: Perform<Effect>;
}

/** Runs a part of one request's work with the limited signal and `perform`. */
export type InTime = <T>(
  work: (limited: Pick<WriteLimit, 'signal' | 'perform'>) => Promise<T>,
) => Promise<T>;

/** Starts a request's time limit; work inside rejects with `DeadlineReached` after the limit. */
export function beginWrites({ clock, signal, perform }: WriteLimit): InTime {
  const until = clock.monotonicMs() + writeWithinMs;

  function leftMs(): number {
    const ms = until - clock.monotonicMs();
    if (ms <= 0) throw new DeadlineReached(writeWithinMs);
    return ms;
  }

  const performInTime: Perform<Effect> = async (name, write) =>
    perform(name, async () => {
      leftMs();
      return write();
    });
  return async (work) =>
    withDeadline({ clock, ms: leftMs(), signal }, (limited) =>
      work({ signal: limited, perform: performInTime }),
    );
}
