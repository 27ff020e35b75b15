import type { Clock } from '../../time/clock.ts';
import { withDeadline } from '../../time/deadline.ts';
import type { KubeClient } from '../client/client.ts';
import { type Lease, leases } from '../core-resources.ts';
import { isConflict, isNotFound } from '../errors.ts';
import type { ObjectRef } from '../object.ts';
import { acquiredSpec, releasedSpec, wasReleased } from './lease-record.ts';

/** Another process has the lease, or ours could not be renewed in time. */
export class LeaseLostError extends Error {
  override readonly name = 'LeaseLostError';
  constructor(why: string) {
    super(`lease lost: ${why}`);
  }
}

/** The lease as we wrote it last, and the start of that request by our clock. */
export interface AcquiredLease {
  readonly lease: Lease;
  readonly writtenAtMs: number;
}

export interface LeaseLockOptions {
  readonly client: Pick<KubeClient, 'find' | 'create' | 'patch'>;
  readonly ref: ObjectRef;
  readonly identity: string;
  readonly clock: Clock;
  readonly leaseDurationMs: number;
  /** Limit of one request. */
  readonly tryMs: number;
}

/** The requests that look at one Lease object, take it, renew it and give it back. */
export function createLeaseLock({ client, ref, identity, clock, ...times }: LeaseLockOptions) {
  const { leaseDurationMs, tryMs } = times;

  function find(stop: AbortSignal): Promise<Lease | undefined> {
    return limited(stop, (limit) => client.find(leases, ref, { signal: limit }));
  }

  /** Takes or renews the lease. It counts from the start of this request: nobody can have seen it before. */
  async function write(lease: Lease | undefined, stop?: AbortSignal): Promise<AcquiredLease> {
    const writtenAtMs = clock.monotonicMs();
    const spec = acquiredSpec(lease, { identity, durationMs: leaseDurationMs, now: clock.now() });
    const written = await limited(stop, (signal) =>
      lease
        ? patch(lease, spec, signal)
        : client.create(leases, { metadata: ref, spec }, { signal }),
    );
    return { lease: written, writtenAtMs };
  }

  async function renew({ lease }: AcquiredLease, stop: AbortSignal): Promise<AcquiredLease> {
    try {
      return await write(lease, stop);
    } catch (error) {
      if (!isConflict(error) && !isNotFound(error)) throw error;
      // Perhaps our own write whose answer got lost, or somebody edited or deleted the object.
      const current = await find(stop);
      // A holder that was only taken out of it is still ourselves: nobody else may take it so soon.
      const holder = current?.spec?.holderIdentity || identity;
      if (holder !== identity) throw new LeaseLostError(`${holder} holds it`);
      // By another one, who led meanwhile: we do so when our own work has ended.
      if (current && wasReleased(current)) throw new LeaseLostError('it was given back');
      return write(current, stop);
    }
  }

  async function release({ lease }: AcquiredLease, stop: AbortSignal): Promise<void> {
    const spec = releasedSpec(clock.now());
    try {
      await patch(lease, spec, stop);
    } catch (error) {
      if (!isConflict(error)) throw error;
      // A renewal that was cut off may have been carried out all the same.
      const current = await find(stop);
      if (current?.spec?.holderIdentity === identity) await patch(current, spec, stop);
    }
  }

  function patch({ metadata }: Lease, spec: Lease['spec'], signal: AbortSignal): Promise<Lease> {
    const { resourceVersion } = metadata;
    return client.patch(leases, ref, { metadata: { resourceVersion }, spec }, { signal });
  }

  function limited<T>(
    signal: AbortSignal | undefined,
    work: (limit: AbortSignal) => Promise<T>,
  ): Promise<T> {
    return withDeadline({ clock, ms: tryMs, signal }, work);
  }

  return { find, write, renew, release };
}
