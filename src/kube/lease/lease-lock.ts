import type { Clock } from '../../time/clock.ts';
import { withDeadline } from '../../time/deadline.ts';
import type { KubeClient } from '../client/client.ts';
import { type Lease, leases } from '../core-resources.ts';
import { isConflict, isNotFound } from '../errors.ts';
import type { ObjectRef } from '../object.ts';
import { acquiredSpec, releasedSpec, wasReleased } from './lease-record.ts';

/** Error: another process holds the lease, or the renewal was late. */
export class LeaseLostError extends Error {
  override readonly name = 'LeaseLostError';
  constructor(why: string) {
    super(`lease lost: ${why}`);
  }
}

/** The last written lease, with the request's start on the monotonic clock. */
export interface AcquiredLease {
  readonly lease: Lease;
  readonly writtenAtMs: number;
}

interface LeaseLockOptions {
  readonly client: Pick<KubeClient, 'find' | 'create' | 'patch'>;
  readonly ref: ObjectRef;
  readonly identity: string;
  readonly clock: Clock;
  readonly leaseDurationMs: number;
  /** Timeout per request (ms). */
  readonly tryMs: number;
}

export type LeaseLock = ReturnType<typeof createLeaseLock>;

/** Creates the requests for one Lease object: find, acquire, renew and release. */
export function createLeaseLock({ client, ref, identity, clock, ...times }: LeaseLockOptions) {
  const { leaseDurationMs, tryMs } = times;

  function find(stop: AbortSignal): Promise<Lease | undefined> {
    return limited(stop, (limit) => client.find(leases, ref, { signal: limit }));
  }

  /**
   * Acquires or renews the lease. Its time counts from the request's start: no candidate can have observed the write
   * earlier.
   */
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
      // Possible causes: our own write with a lost answer, or a user edited or deleted the object.
      const current = await find(stop);
      // An emptied holder field is a user edit: candidates must wait, hence we still hold the lease.
      const holder = current?.spec?.holderIdentity || identity;
      if (holder !== identity) throw new LeaseLostError(`held by ${holder}`);
      // Another leader released the lease meanwhile: this process must stop its work first.
      if (current && wasReleased(current)) throw new LeaseLostError('it was released');
      return write(current, stop);
    }
  }

  async function release({ lease }: AcquiredLease, stop: AbortSignal): Promise<void> {
    const spec = releasedSpec(clock.now());
    try {
      await patch(lease, spec, stop);
    } catch (error) {
      if (!isConflict(error)) throw error;
      // An aborted renewal may still have been written.
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
