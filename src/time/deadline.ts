import { type Clock, passed } from './clock.ts';

/** The time a piece of work was given has passed. */
export class DeadlineReached extends Error {
  override readonly name = 'DeadlineReached';
  constructor(ms: number) {
    super(
      `no answer within ${ms >= 1000 ? `${Math.round(ms / 100) / 10} s` : `${Math.round(ms)} ms`}`,
    );
  }
}

/** How long a piece of work may take, and who may end it before. */
export interface Limit {
  readonly clock: Clock;
  readonly ms: number;
  readonly signal?: AbortSignal | undefined;
}

/**
 * Runs `work` for at most `ms` milliseconds, or until `signal` aborts: it is told by its signal, and the promise rejects
 * with that reason at once, whether the work obeys or not. (undici looks at the signal of a request only when it is
 * dispatched: one that is queued, or whose connection is being made, would outlive its deadline.) The whole exchange is
 * limited, not the gap between two bytes: a server that trickles would hold a gap time-out off for ever.
 */
export async function withDeadline<T>(
  { clock, ms, signal }: Limit,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  signal?.throwIfAborted();
  // Not AbortSignal.any, which leaves an entry behind on a signal that lives as long as the process.
  const limit = new AbortController();
  const timer = new AbortController();
  const { promise: cut, reject } = Promise.withResolvers<never>();
  const end = (reason: unknown): void => {
    reject(reason);
    limit.abort(reason);
  };
  const onAbort = (): void => end(signal?.reason);
  signal?.addEventListener('abort', onAbort, { once: true });
  void passed(clock, ms, timer.signal).then((late) => {
    if (late) end(new DeadlineReached(ms));
  });
  try {
    return await Promise.race([work(limit.signal), cut]);
  } finally {
    timer.abort();
    signal?.removeEventListener('abort', onAbort);
  }
}
