import { jittered } from '../../time/backoff.ts';
import type { Clock, Random } from '../../time/clock.ts';
import { withDeadline } from '../../time/deadline.ts';
import type { KubeClient } from '../client/client.ts';
import { type Lease, leases } from '../core-resources.ts';
import { isAlreadyExists, isConflict, isNotFound } from '../errors.ts';
import { heldSpec, isFree, type Observation, observe, releasedSpec } from './lease-record.ts';

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
}

/** Another process has the lease, or ours could not be renewed in time. */
export class LeaseLostError extends Error {
  constructor(why: string) {
    super(`lease lost: ${why}`);
    this.name = 'LeaseLostError';
  }
}

/**
 * Runs `lead` while this process holds the lease, again after it was lost, until the signal aborts or `lead` returns by
 * itself. `lead` must end soon after its signal aborts; it is renewed for until then, and given back afterwards, so that
 * a successor starts at once and never beside it.
 */
export async function runWithLease(
  options: LeaseOptions,
  signal: AbortSignal,
  lead: (leading: AbortSignal) => Promise<void>,
): Promise<void> {
  const { client, namespace, name, identity, clock, random, onChange = () => undefined } = options;
  const { leaseDurationMs = 15_000 } = options;
  const { renewDeadlineMs = (leaseDurationMs * 2) / 3 } = options;
  const { retryPeriodMs = (leaseDurationMs * 2) / 15 } = options;
  if (!(leaseDurationMs > renewDeadlineMs && renewDeadlineMs > retryPeriodMs)) {
    throw new RangeError('lease: leaseDurationMs > renewDeadlineMs > retryPeriodMs must hold');
  }
  const ref = { namespace, name };

  while (!signal.aborted) {
    const held = await campaign();
    if (!held) return;
    onChange('leading');
    if (await leadWith(held)) return;
  }

  /** Waits until the lease is ours; undefined when the signal aborted first. */
  async function campaign(): Promise<Held | undefined> {
    let seen: Observation | undefined;
    onChange('campaigning');
    while (!signal.aborted) {
      try {
        const startedAtMs = clock.monotonicMs();
        const lease = await limited(renewDeadlineMs, signal, (limit) =>
          client.find(leases, ref, { signal: limit }),
        );
        seen = observe(lease, seen, clock.monotonicMs());
        if (isFree({ lease, identity }, seen, clock.monotonicMs())) {
          const taken = await limited(renewDeadlineMs, signal, (limit) => write(lease, limit));
          return { lease: taken, renewedAtMs: startedAtMs };
        }
      } catch (error) {
        // Somebody else was faster: a matter of course among candidates.
        if (!signal.aborted && !isLostRace(error)) onChange('campaigning', error);
      }
      // At most the period: a lease that was given back is taken within it.
      await pause(jittered(retryPeriodMs, random) / 1.2, signal);
    }
    return undefined;
  }

  /** Leads until `lead` has ended; true when that was for good, false when the lease was lost. */
  async function leadWith(held: Held): Promise<boolean> {
    const leading = new AbortController();
    const ended = new AbortController();
    const onAbort = (): void => leading.abort(signal.reason);
    if (signal.aborted) onAbort();
    signal.addEventListener('abort', onAbort, { once: true });
    const work = lead(leading.signal).finally(() => ended.abort());
    try {
      const [, lost] = await Promise.all([
        work.catch((error: unknown) => {
          // Work that was told to stop may end in any error.
          if (!leading.signal.aborted) throw error;
        }),
        renewUntil(held, ended.signal).then((why) => {
          if (why) leading.abort(why);
          return why;
        }),
      ]);
      if (lost) onChange('campaigning', lost);
      else await release(held);
      return lost === undefined;
    } catch (error) {
      await release(held);
      throw error;
    } finally {
      signal.removeEventListener('abort', onAbort);
    }
  }

  /** Renews until `ended`; the reason when the lease is lost before. */
  async function renewUntil(held: Held, ended: AbortSignal): Promise<LeaseLostError | undefined> {
    for (;;) {
      const leftMs = (): number => held.renewedAtMs + renewDeadlineMs - clock.monotonicMs();
      await pause(Math.min(retryPeriodMs, leftMs()), ended);
      if (ended.aborted) return undefined;
      const left = leftMs();
      if (left <= 0) return new LeaseLostError(`not renewed for ${renewDeadlineMs} ms`);
      try {
        const startedAtMs = clock.monotonicMs();
        held.lease = await limited(left, ended, (limit) => renew(held.lease, limit));
        held.renewedAtMs = startedAtMs;
      } catch (error) {
        if (error instanceof LeaseLostError) return error;
        if (!ended.aborted) onChange('leading', error);
      }
    }
  }

  async function renew(lease: Lease, limit: AbortSignal): Promise<Lease> {
    try {
      return await write(lease, limit);
    } catch (error) {
      if (!isConflict(error) && !isNotFound(error)) throw error;
      // Perhaps our own write whose answer got lost, or somebody edited or deleted the object.
      const current = await client.find(leases, ref, { signal: limit });
      const holder = current?.spec?.holderIdentity ?? identity;
      if (holder !== identity) throw new LeaseLostError(`${holder || 'nobody'} holds it`);
      return write(current, limit);
    }
  }

  function write(lease: Lease | undefined, limit: AbortSignal): Promise<Lease> {
    const spec = heldSpec(lease, { identity, durationMs: leaseDurationMs, now: clock.now() });
    const call = { signal: limit };
    if (!lease) return client.create(leases, { metadata: ref, spec }, call);
    const { resourceVersion } = lease.metadata;
    return client.patch(leases, ref, { metadata: { resourceVersion }, spec }, call);
  }

  async function release({ lease }: Held): Promise<void> {
    const { resourceVersion } = lease.metadata;
    const patch = { metadata: { resourceVersion }, spec: releasedSpec(clock.now()) };
    try {
      await limited(renewDeadlineMs, undefined, (limit) =>
        client.patch(leases, ref, patch, { signal: limit }),
      );
      onChange('released');
    } catch (error) {
      // The successor then waits for the lease to run out.
      onChange('released', error);
    }
  }

  function limited<T>(
    ms: number,
    stop: AbortSignal | undefined,
    work: (limit: AbortSignal) => Promise<T>,
  ): Promise<T> {
    return withDeadline({ clock, ms, signal: stop }, work);
  }

  async function pause(ms: number, stop: AbortSignal): Promise<void> {
    try {
      await clock.sleep(Math.max(0, ms), stop);
    } catch (error) {
      if (!stop.aborted) throw error;
    }
  }
}

/** The lease as we wrote it last, and the start of that request by our clock. */
interface Held {
  lease: Lease;
  renewedAtMs: number;
}

function isLostRace(error: unknown): boolean {
  return isConflict(error) || isAlreadyExists(error);
}
