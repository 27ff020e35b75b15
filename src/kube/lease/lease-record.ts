import type { Lease } from '../core-resources.ts';

/** What a candidate saw of the lease, and when by its own clock. */
export interface Observation {
  readonly holder: string;
  readonly renewTime: string;
  readonly atMs: number;
}

/**
 * Notes what the lease says. As long as it says the same, the time of the first look stays: only that time and our own
 * monotonic clock decide whether the holder is alive, never the time that the holder wrote. A lease that somebody has
 * deleted says nothing new: its holder leads on, and writes it again when it renews.
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

/** Who wants the lease, and for how long at a time. */
export interface Candidate {
  readonly identity: string;
  readonly durationMs: number;
}

/**
 * Whether the lease may be taken: it never had a holder, he gave it back, it is ours, or it has said the same for its whole
 * duration. One that lost its holder by an edit counts as held: the holder may live, and writes it again when he renews.
 */
export function isFree(
  { lease, identity, durationMs }: Candidate & { readonly lease: Lease | undefined },
  { holder, atMs }: Observation,
  nowMs: number,
): boolean {
  if (holder === identity || (holder === '' && (!lease?.spec?.renewTime || wasReleased(lease))))
    return true;
  // No shorter than ours: an edit must not end what its holder renews in time.
  return nowMs - atMs >= Math.max(durationMs, (lease?.spec?.leaseDurationSeconds ?? 0) * 1000);
}

/** What gives a lease back says that it is over in a second. */
const givenBackSeconds = 1;

/** Whether a lease without a holder says that he gave it up, and was not only taken out of it. */
export function wasReleased({ spec }: Lease): boolean {
  const { holderIdentity = '', leaseDurationSeconds = 0 } = spec ?? {};
  return holderIdentity === '' && leaseDurationSeconds <= givenBackSeconds;
}

/** The spec with which `identity` takes or renews the lease. */
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

/** The spec with which a holder gives the lease back, as client-go writes it. */
export function releasedSpec(now: Date) {
  return { holderIdentity: '', leaseDurationSeconds: givenBackSeconds, renewTime: microTime(now) };
}

/** metav1.MicroTime has exactly six decimals. */
function microTime(now: Date): string {
  return now.toISOString().replace('Z', '000Z');
}
