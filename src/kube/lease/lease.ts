import { jittered } from '../../time/backoff.ts';
import { type Clock, passed, type Random } from '../../time/clock.ts';
import { DeadlineReached, withDeadline } from '../../time/deadline.ts';
import type { KubeClient } from '../client/client.ts';
import { isAlreadyExists, isConflict } from '../errors.ts';
import { StillRunning } from '../reconcile/together.ts';
import { type AcquiredLease, createLeaseLock, LeaseLostError } from './lease-lock.ts';
import { isFree, type Observation, observe } from './lease-record.ts';

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
export class LeaseOverrun extends Error {
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
  const candidate = { identity, durationMs: leaseDurationMs };
  const lock = createLeaseLock({
    ...options,
    ref: { namespace: options.namespace, name: options.name },
    leaseDurationMs,
    // A hanging request leaves time for a second attempt. Leases with slower writes could not be renewed in time,
    // hence acquiring them fails.
    tryMs: renewDeadlineMs / 2,
  });

  while (!signal.aborted) {
    const acquired = await campaign();
    if (!acquired) return;
    if (signal.aborted) return release(acquired);
    onChange('leading');
    const lost = await leadWith(acquired);
    if (!lost) return;
    onChange('campaigning', lost);
  }

  /** Waits until this process holds the lease; undefined if the signal aborts first. */
  async function campaign(): Promise<AcquiredLease | undefined> {
    let observation: Observation | undefined;
    onChange('campaigning');
    while (!signal.aborted) {
      try {
        const lease = await lock.find(signal);
        observation = observe(lease, observation, clock.monotonicMs());
        if (isFree({ lease, ...candidate }, observation, clock.monotonicMs()))
          // The write ignores the signal: an acquired lease must be known, or no release could follow.
          return await lock.write(lease);
      } catch (error) {
        // Losing the race against another candidate is normal.
        if (!signal.aborted && !isLostRace(error)) onChange('campaigning', error);
      }
      // At most the retry period: a released lease is acquired within this time.
      await passed(clock, jittered(retryPeriodMs, random) / 1.2, signal);
    }
    return undefined;
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
      const { acquired, lost } = await renewUntil(first, ended.signal);
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

  /** Renews until `ended`; returns the cause if the lease is lost before. */
  async function renewUntil(
    first: AcquiredLease,
    ended: AbortSignal,
  ): Promise<{ readonly acquired: AcquiredLease; readonly lost?: LeaseLostError }> {
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
      try {
        acquired = await renewWithin(ms, acquired, ended);
        onRenewal({ durationMs: clock.monotonicMs() - triedAtMs });
      } catch (error) {
        if (error instanceof LeaseLostError) return { acquired, lost: error };
        if (ended.aborted) continue;
        onRenewal({ durationMs: clock.monotonicMs() - triedAtMs, error });
        onChange('leading', error);
      }
    }
  }

  function renewWithin(
    ms: number,
    acquired: AcquiredLease,
    ended: AbortSignal,
  ): Promise<AcquiredLease> {
    return withDeadline({ clock, ms, signal: ended }, (limit) => lock.renew(acquired, limit));
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

function isLostRace(error: unknown): boolean {
  return isConflict(error) || isAlreadyExists(error);
}
