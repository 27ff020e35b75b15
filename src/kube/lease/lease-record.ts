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

/** Whether the lease may be taken: nobody holds it, we do, or its holder was silent for its whole duration. */
export function isFree(
  { lease, identity, durationMs }: Candidate & { readonly lease: Lease | undefined },
  { holder, atMs }: Observation,
  nowMs: number,
): boolean {
  if (holder === '' || holder === identity) return true;
  const said = lease?.spec?.leaseDurationSeconds;
  return nowMs - atMs >= (said === undefined ? durationMs : said * 1000);
}

/** The spec with which `identity` takes or renews the lease. */
export function heldSpec(
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

/** The spec with which a holder gives the lease back, as client-go writes it: free, and over in a second anyway. */
export function releasedSpec(now: Date) {
  return { holderIdentity: '', leaseDurationSeconds: 1, renewTime: microTime(now) };
}

/** metav1.MicroTime has exactly six decimals. */
function microTime(now: Date): string {
  return now.toISOString().replace('Z', '000Z');
}
