import { type Clock, endOfWait, passed } from './clock.ts';

/** Error: work exceeded its deadline. */
export class DeadlineReached extends Error {
  override readonly name = 'DeadlineReached';
  readonly ms: number;
  constructor(ms: number) {
    super(
      `no answer within ${ms >= 1000 ? `${Math.round(ms / 100) / 10} s` : `${Math.round(ms)} ms`}`,
    );
    this.ms = ms;
  }
}

/** Time limit for work, with the caller's abort signal. */
export interface Limit {
  readonly clock: Clock;
  readonly ms: number;
  readonly signal?: AbortSignal | undefined;
}

/**
 * Runs `work` for at most `ms` milliseconds, or until `signal` aborts. The promise then rejects at once with the
 * abort reason, even if `work` ignores its signal. (undici checks a request's signal only at dispatch: queued
 * requests, and requests waiting for a connection, would outlive their deadline.) The limit covers the whole
 * exchange, not the gap between two bytes: a trickling server would postpone a gap time-out forever.
 */
export async function withDeadline<T>(
  { clock, ms, signal }: Limit,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  signal?.throwIfAborted();
  // AbortSignal.any would leak an entry on signals living as long as the process.
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
    timer.abort(endOfWait);
    signal?.removeEventListener('abort', onAbort);
  }
}
