import type { Clock, Random } from '../../time/clock.ts';
import { DeadlineReached, withDeadline } from '../../time/deadline.ts';
import type { KubeClient } from '../client/client.ts';
import { StillRunning } from '../reconcile/together.ts';
import { campaign } from './campaign.ts';
import { type AcquiredLease, createLeaseLock, type LeaseLostError } from './lease-lock.ts';
import { renewUntil } from './renewal.ts';

export interface LeaseOptions {
  readonly client: Pick<KubeClient, 'find' | 'create' | 'patch'>;
  readonly namespace: string;
  readonly name: string;
  /** Unique per process, for example the Pod's name. */
  readonly identity: string;
  readonly clock: Clock;
  readonly random: Random;
  /**
   * Candidates may acquire the lease after this time without a renewal (default 15 s, as in kube-controller-manager).
   */
  readonly leaseDurationMs?: number;
  /**
   * A leader without a renewal for this time stops leading (default: two thirds of the duration), well before a
   * candidate may start.
   */
  readonly renewDeadlineMs?: number;
  /** Interval between attempts, for leader and candidates (default: two fifteenths of the duration). */
  readonly retryPeriodMs?: number;
  readonly onChange?: (state: 'campaigning' | 'leading' | 'released', error?: unknown) => void;
  /** Called after every renewal with its duration. */
  readonly onRenewal?: (result: { readonly durationMs: number; readonly error?: unknown }) => void;
  /**
   * Called when work continues past a lost lease: another leader may start any moment. The process must exit now:
   * work that ignores its signal ends only with the process.
   */
  readonly onOverrun: (error: LeaseOverrun) => void;
}

/** Error: work continued after its lease expired. */
class LeaseOverrun extends Error {
  override readonly name = 'LeaseOverrun';
  constructor(lost: LeaseLostError) {
    super(`work still running after its lease expired (${lost.message})`, { cause: lost });
  }
}

const noCallbacks = { onChange: () => undefined, onRenewal: () => undefined };

/**
 * Runs `lead` while this process holds the lease, and again after a lost lease, until the signal aborts or `lead`
 * returns. `lead` must end soon after its signal aborts. Until then the lease is renewed, and afterwards released:
 * the successor starts at once, but never beside `lead`. Rejects when `lead` fails, or outlives a lost lease.
 */
export async function runWithLease(
  options: LeaseOptions,
  signal: AbortSignal,
  lead: (leading: AbortSignal) => Promise<void>,
): Promise<void> {
  const { identity, clock, random, onChange, onRenewal, onOverrun } = {
    ...noCallbacks,
    ...options,
  };
  const { leaseDurationMs, renewDeadlineMs, retryPeriodMs } = timesOf(options);
  if (!(leaseDurationMs > renewDeadlineMs && renewDeadlineMs > retryPeriodMs)) {
    throw new RangeError(
      'lease: leaseDurationMs must be longer than renewDeadlineMs, and renewDeadlineMs longer than retryPeriodMs',
    );
  }
  const lock = createLeaseLock({
    ...options,
    ref: { namespace: options.namespace, name: options.name },
    leaseDurationMs,
    // A hanging request leaves time for a second attempt. Leases with slower writes could not be renewed in time,
    // hence acquiring them fails.
    tryMs: renewDeadlineMs / 2,
  });

  const candidate = { identity, durationMs: leaseDurationMs };
  const campaigning = { lock, candidate, retryPeriodMs, clock, random, onChange };
  const renewal = { lock, renewDeadlineMs, retryPeriodMs, clock, onChange, onRenewal };

  while (!signal.aborted) {
    const acquired = await campaign(campaigning, signal);
    if (!acquired) return;
    if (signal.aborted) return release(acquired);
    onChange('leading');
    const lost = await leadWith(acquired);
    if (!lost) return;
    onChange('campaigning', lost);
  }

  /** Leads until `lead` has ended; returns the cause if the lease was lost. */
  async function leadWith(first: AcquiredLease): Promise<LeaseLostError | undefined> {
    const leading = new AbortController();
    const ended = new AbortController();
    const onAbort = (): void => leading.abort(signal.reason);
    if (signal.aborted) onAbort();
    signal.addEventListener('abort', onAbort, { once: true });
    const work = outcomeOf(lead, leading.signal).finally(() => ended.abort());
    try {
      const { acquired, lost } = await renewUntil(renewal, first, ended.signal);
      if (lost) {
        leading.abort(lost);
        await endWithin(work, acquired, lost);
        return lost;
      }
      const { error } = await work;
      // StillRunning: work may still be writing, hence successors must wait until the lease expires.
      if (!(error instanceof StillRunning)) await release(acquired);
      // Aborted work may end with any error.
      if (error !== undefined && !leading.signal.aborted) throw error;
      return undefined;
    } finally {
      signal.removeEventListener('abort', onAbort);
    }
  }

  /** Waits for work under a lost lease, at most until the lease expires. */
  async function endWithin(
    work: Promise<unknown>,
    acquired: AcquiredLease,
    lost: LeaseLostError,
  ): Promise<void> {
    const ms = Math.max(0, acquired.writtenAtMs + leaseDurationMs - clock.monotonicMs());
    try {
      await withDeadline({ clock, ms }, () => work);
    } catch (error) {
      if (!(error instanceof DeadlineReached)) throw error;
      const overrun = new LeaseOverrun(lost);
      onOverrun(overrun);
      throw overrun;
    }
  }

  async function release(acquired: AcquiredLease): Promise<void> {
    try {
      await withDeadline({ clock, ms: renewDeadlineMs }, (limit) => lock.release(acquired, limit));
      onChange('released');
    } catch (error) {
      // The successor then waits until the lease expires.
      onChange('released', error);
    }
  }
}

/** kube-controller-manager's 15, 10 and 2 s, or in proportion to the duration. */
function timesOf({
  leaseDurationMs = 15_000,
  renewDeadlineMs = (leaseDurationMs * 2) / 3,
  retryPeriodMs = (leaseDurationMs * 2) / 15,
}: Partial<LeaseOptions>) {
  return { leaseDurationMs, renewDeadlineMs, retryPeriodMs };
}

/** Resolves to the work's outcome; never rejects, because the outcome is read later. */
async function outcomeOf(
  lead: (leading: AbortSignal) => Promise<void>,
  leading: AbortSignal,
): Promise<{ readonly error?: unknown }> {
  try {
    await lead(leading);
    return {};
  } catch (error) {
    return { error };
  }
}
