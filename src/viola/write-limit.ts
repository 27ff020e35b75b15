import type { Effect } from '../api/effects.ts';
import type { Perform } from '../process/effects.ts';
import type { Clock } from '../time/clock.ts';
import { DeadlineReached, withDeadline } from '../time/deadline.ts';

/**
 * How long after Viola began with a request it may still send a write. Callers wait 30 s, and learn nothing of what was
 * written when they give up.
 *
 * What a caller that gave up, or never learned what became of its request, may rely on:
 * - No write is sent once Viola has seen the connection of the caller close, nor later than this after it began with the
 *   request; not even when its process stood still and finds the answer to its read before its timers ring.
 * - What was sent before is carried out by the API server or given up within the time that the write names (`timeout` of its
 *   URL; see `appliedWithinSeconds`). So no object is made later than 40 s after Viola began with the request, which is
 *   when its body had come: within 30 s of its first byte. Consents and deletions name none and have 34 s
 *   (`requestTimeoutUpperBound` in Kubernetes' endpoints/handlers/rest.go).
 * - Two things stretch that, and nobody but the API server can end them: a network that loses packets and heals (the
 *   kernel goes on sending for a closed connection, with `tcp_orphan_retries` at its default for about 100 s), and an API
 *   server whose process stands still between taking the bytes and reading them.
 * - However late, a write meets what was read or nothing: an update, a consent and a deletion carry uid and
 *   resourceVersion. A creation meets that there is no object, which is true again when one was deleted: who has to be
 *   sure that none comes back looks again after the time above.
 */
export const writeWithinMs = 25_000;

/**
 * Longer than an admission webhook may take by default (10 s): when the time of the write is over with that of the webhook,
 * `failurePolicy: Ignore` does not help any more (`ctx.Done()` in Kubernetes' admission/plugin/webhook/mutating/dispatcher.go),
 * and a cluster in which one hangs would never be written to. A server that needs more is asked again.
 */
export const appliedWithinSeconds = 15;

export interface WriteLimit {
  readonly clock: Clock;
  readonly signal: AbortSignal;
  readonly perform: Perform<Effect>;
}

/** Runs a part of the work for one request with the signal and the `perform` that it has to obey. */
export type InTime = <T>(
  work: (limited: Pick<WriteLimit, 'signal' | 'perform'>) => Promise<T>,
) => Promise<T>;

/** Begins the time of one request: what is run in it rejects with `DeadlineReached` when it is over. */
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
