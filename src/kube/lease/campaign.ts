import { jittered } from '../../time/backoff.ts';
import { type Clock, passed, type Random } from '../../time/clock.ts';
import { isAlreadyExists, isConflict } from '../errors.ts';
import type { AcquiredLease, LeaseLock } from './lease-lock.ts';
import { isFree, type Observation, observe } from './lease-record.ts';

interface CampaignOptions {
  readonly lock: Pick<LeaseLock, 'find' | 'write'>;
  readonly candidate: { readonly identity: string; readonly durationMs: number };
  readonly retryPeriodMs: number;
  readonly clock: Clock;
  readonly random: Random;
  readonly onChange: (state: 'campaigning', error?: unknown) => void;
}

/** Waits until this process holds the lease; undefined if the signal aborts first. */
export async function campaign(
  { lock, candidate, retryPeriodMs, clock, random, onChange }: CampaignOptions,
  signal: AbortSignal,
): Promise<AcquiredLease | undefined> {
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

function isLostRace(error: unknown): boolean {
  return isConflict(error) || isAlreadyExists(error);
}
