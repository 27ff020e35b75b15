import { type Clock, passed } from '../../time/clock.ts';
import { withDeadline } from '../../time/deadline.ts';
import { type AcquiredLease, type LeaseLock, LeaseLostError } from './lease-lock.ts';

export interface RenewalOptions {
  readonly lock: Pick<LeaseLock, 'renew'>;
  readonly renewDeadlineMs: number;
  readonly retryPeriodMs: number;
  readonly clock: Clock;
  readonly onChange: (state: 'leading', error: unknown) => void;
  readonly onRenewal: (result: { readonly durationMs: number; readonly error?: unknown }) => void;
}

/** Last lease written by this process; `lost`: why the lease was lost. */
interface Renewed {
  readonly acquired: AcquiredLease;
  readonly lost?: LeaseLostError;
}

/** Renews until `ended`; returns the cause if the lease is lost before. */
export async function renewUntil(
  { lock, renewDeadlineMs, retryPeriodMs, clock, onChange, onRenewal }: RenewalOptions,
  first: AcquiredLease,
  ended: AbortSignal,
): Promise<Renewed> {
  let acquired = first;
  let triedAtMs = acquired.writtenAtMs;
  for (;;) {
    const now = clock.monotonicMs();
    const lostAtMs = acquired.writtenAtMs + renewDeadlineMs;
    // Interval from start to start: a slow server must not slow down the attempts.
    const waitMs = Math.min(triedAtMs + retryPeriodMs, lostAtMs) - now;
    if (!(await passed(clock, waitMs, ended))) return { acquired };
    triedAtMs = clock.monotonicMs();
    const ms = lostAtMs - triedAtMs;
    if (ms <= 0)
      return { acquired, lost: new LeaseLostError(`not renewed for ${renewDeadlineMs} ms`) };
    const last = acquired;
    try {
      acquired = await withDeadline({ clock, ms, signal: ended }, (limit) =>
        lock.renew(last, limit),
      );
      onRenewal({ durationMs: clock.monotonicMs() - triedAtMs });
    } catch (error) {
      if (error instanceof LeaseLostError) return { acquired, lost: error };
      if (ended.aborted) continue;
      onRenewal({ durationMs: clock.monotonicMs() - triedAtMs, error });
      onChange('leading', error);
    }
  }
}
