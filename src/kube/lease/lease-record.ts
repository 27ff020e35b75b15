import type { Lease } from '../core-resources.ts';

/** A candidate's observation: lease content, with its time on the monotonic clock. */
export interface Observation {
  readonly holder: string;
  readonly renewTime: string;
  readonly atMs: number;
}

/**
 * Records the lease content. While unchanged, the first observation's time stays: only this time and our monotonic
 * clock decide whether the holder lives, never the holder's own timestamps. A deleted lease changes nothing: its
 * holder still leads, and writes a new lease at the next renewal.
 */
export function observe(
  lease: Lease | undefined,
  before: Observation | undefined,
  nowMs: number,
): Observation {
  if (!lease && before) return before;
  const { holderIdentity: holder = '', renewTime = '' } = lease?.spec ?? {};
  const same = before?.holder === holder && before.renewTime === renewTime;
  return same ? before : { holder, renewTime, atMs: nowMs };
}

/** A lease candidate with its lease duration. */
export interface Candidate {
  readonly identity: string;
  readonly durationMs: number;
}

/**
 * Returns true if the lease may be acquired: never held, released, ours, or unchanged for its full duration. A lease
 * with its holder removed by an edit still counts as held: the holder may live, and rewrites the lease when renewing.
 */
export function isFree(
  { lease, identity, durationMs }: Candidate & { readonly lease: Lease | undefined },
  { holder, atMs }: Observation,
  nowMs: number,
): boolean {
  if (holder === identity || (holder === '' && (!lease?.spec?.renewTime || wasReleased(lease))))
    return true;
  // At least our own duration: an edit must not shorten a lease its holder renews in time.
  return nowMs - atMs >= Math.max(durationMs, (lease?.spec?.leaseDurationSeconds ?? 0) * 1000);
}

/** A released lease expires in a second. */
const releasedSeconds = 1;

/** Returns true if the holder released the lease. An edit removing only the holder keeps the duration. */
export function wasReleased({ spec }: Lease): boolean {
  const { holderIdentity = '', leaseDurationSeconds = 0 } = spec ?? {};
  return holderIdentity === '' && leaseDurationSeconds <= releasedSeconds;
}

/** Returns the spec for `identity` to acquire or renew the lease. */
export function acquiredSpec(
  lease: Lease | undefined,
  { identity, durationMs, now }: Candidate & { readonly now: Date },
) {
  const renewTime = microTime(now);
  const before = lease?.spec;
  const renewed = before?.holderIdentity === identity;
  return {
    holderIdentity: identity,
    leaseDurationSeconds: Math.ceil(durationMs / 1000),
    acquireTime: (renewed ? before.acquireTime : undefined) ?? renewTime,
    renewTime,
    leaseTransitions: (before?.leaseTransitions ?? 0) + (renewed ? 0 : 1),
  };
}

/** Returns the spec for releasing the lease, as client-go writes it. */
export function releasedSpec(now: Date) {
  return { holderIdentity: '', leaseDurationSeconds: releasedSeconds, renewTime: microTime(now) };
}

/** metav1.MicroTime has exactly six decimals. */
function microTime(now: Date): string {
  return now.toISOString().replace('Z', '000Z');
}
