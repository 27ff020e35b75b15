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
  /** Others may take the lease when they have seen no renewal for so long (default 15 s, as kube-controller-manager). */
  readonly leaseDurationMs?: number;
  /** A leader that could not renew for so long stands down (two thirds of the duration): well before anybody else may start. */
  readonly renewDeadlineMs?: number;
  /** Between two tries of a leader or a candidate (two fifteenths of the duration). */
  readonly retryPeriodMs?: number;
  readonly onChange?: (state: 'campaigning' | 'leading' | 'released', error?: unknown) => void;
  /** Told about every renewal and how long it took. */
  readonly onRenewal?: (result: { readonly durationMs: number; readonly error?: unknown }) => void;
  /**
   * The lease was lost and the work still goes on when it runs out, so that somebody else may lead beside it any moment:
   * end the process, now. (Waiting for work that does not obey is not safe, and nothing but its end stops it.)
   */
  readonly onOverrun: (error: LeaseOverrun) => void;
}

/** Work went on when the lease that it was done under ran out. */
export class LeaseOverrun extends Error {
  override readonly name = 'LeaseOverrun';
  constructor(lost: LeaseLostError) {
    super(`work went on when its lease ran out (${lost.message})`, { cause: lost });
  }
}

const silent = { onChange: () => undefined, onRenewal: () => undefined };

/**
 * Runs `lead` while this process holds the lease, again after it was lost, until the signal aborts or `lead` returns by
 * itself. `lead` must end soon after its signal aborts; it is renewed for until then, and given back afterwards, so that
 * a successor starts at once and never beside it. Rejects when `lead` fails, and when it outlives a lost lease.
 */
export async function runWithLease(
  options: LeaseOptions,
  signal: AbortSignal,
  lead: (leading: AbortSignal) => Promise<void>,
): Promise<void> {
  const { identity, clock, random, onChange, onRenewal, onOverrun } = { ...silent, ...options };
  const { leaseDurationMs, renewDeadlineMs, retryPeriodMs } = timesOf(options);
  if (!(leaseDurationMs > renewDeadlineMs && renewDeadlineMs > retryPeriodMs)) {
    throw new RangeError('lease: leaseDurationMs > renewDeadlineMs > retryPeriodMs must hold');
  }
  const candidate = { identity, durationMs: leaseDurationMs };
  const lock = createLeaseLock({
    ...options,
    ref: { namespace: options.namespace, name: options.name },
    leaseDurationMs,
    // A request that hangs leaves time for another; and a lease whose writing takes longer than this could not be
    // renewed in time, so that it is not led with.
    tryMs: renewDeadlineMs / 2,
  });

  while (!signal.aborted) {
    const held = await campaign();
    if (!held) return;
    if (signal.aborted) return release(held);
    onChange('leading');
    const lost = await leadWith(held);
    if (!lost) return;
    onChange('campaigning', lost);
  }

  /** Waits until the lease is ours; undefined when the signal aborted first. */
  async function campaign(): Promise<AcquiredLease | undefined> {
    let seen: Observation | undefined;
    onChange('campaigning');
    while (!signal.aborted) {
      try {
        const lease = await lock.find(signal);
        seen = observe(lease, seen, clock.monotonicMs());
        if (isFree({ lease, ...candidate }, seen, clock.monotonicMs()))
          // To its end, even if nobody wants it any more: what is not known to be ours could not be given back.
          return await lock.write(lease);
      } catch (error) {
        // Somebody else was faster: a matter of course among candidates.
        if (!signal.aborted && !isLostRace(error)) onChange('campaigning', error);
      }
      // At most the period: a lease that was given back is taken within it.
      await passed(clock, jittered(retryPeriodMs, random) / 1.2, signal);
    }
    return undefined;
  }

  /** Leads until `lead` has ended; why the lease was lost when that was the reason. */
  async function leadWith(first: AcquiredLease): Promise<LeaseLostError | undefined> {
    const leading = new AbortController();
    const ended = new AbortController();
    const onAbort = (): void => leading.abort(signal.reason);
    if (signal.aborted) onAbort();
    signal.addEventListener('abort', onAbort, { once: true });
    const work = outcomeOf(lead, leading.signal).finally(() => ended.abort());
    try {
      const { held, lost } = await renewUntil(first, ended.signal);
      if (lost) {
        leading.abort(lost);
        await endWithin(work, held, lost);
        return lost;
      }
      const { error } = await work;
      // What may still be writing keeps successors waiting until the lease has run out.
      if (!(error instanceof StillRunning)) await release(held);
      // Work that was told to stop may end in any error.
      if (error !== undefined && !leading.signal.aborted) throw error;
      return undefined;
    } finally {
      signal.removeEventListener('abort', onAbort);
    }
  }

  /** Waits for the end of work under a lost lease, but no longer than the lease lasts. */
  async function endWithin(
    work: Promise<unknown>,
    held: AcquiredLease,
    lost: LeaseLostError,
  ): Promise<void> {
    const ms = Math.max(0, held.writtenAtMs + leaseDurationMs - clock.monotonicMs());
    try {
      await withDeadline({ clock, ms }, () => work);
    } catch (error) {
      if (!(error instanceof DeadlineReached)) throw error;
      const overrun = new LeaseOverrun(lost);
      onOverrun(overrun);
      throw overrun;
    }
  }

  /** Renews until `ended`; says why when the lease is lost before. */
  async function renewUntil(
    first: AcquiredLease,
    ended: AbortSignal,
  ): Promise<{ readonly held: AcquiredLease; readonly lost?: LeaseLostError }> {
    let held = first;
    let triedAtMs = held.writtenAtMs;
    for (;;) {
      const now = clock.monotonicMs();
      const lostAtMs = held.writtenAtMs + renewDeadlineMs;
      // From one try to the next, however long it took: a slow server must not be asked more seldom too.
      const waitMs = Math.min(triedAtMs + retryPeriodMs, lostAtMs) - now;
      if (!(await passed(clock, waitMs, ended))) return { held };
      triedAtMs = clock.monotonicMs();
      const ms = lostAtMs - triedAtMs;
      if (ms <= 0)
        return { held, lost: new LeaseLostError(`not renewed for ${renewDeadlineMs} ms`) };
      try {
        held = await renewWithin(ms, held, ended);
        onRenewal({ durationMs: clock.monotonicMs() - triedAtMs });
      } catch (error) {
        if (error instanceof LeaseLostError) return { held, lost: error };
        if (ended.aborted) continue;
        onRenewal({ durationMs: clock.monotonicMs() - triedAtMs, error });
        onChange('leading', error);
      }
    }
  }

  function renewWithin(
    ms: number,
    held: AcquiredLease,
    ended: AbortSignal,
  ): Promise<AcquiredLease> {
    return withDeadline({ clock, ms, signal: ended }, (limit) => lock.renew(held, limit));
  }

  async function release(held: AcquiredLease): Promise<void> {
    try {
      await withDeadline({ clock, ms: renewDeadlineMs }, (limit) => lock.release(held, limit));
      onChange('released');
    } catch (error) {
      // The successor then waits for the lease to run out.
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

/** How work ended; never rejects, so that it may be looked at whenever there is time. */
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
