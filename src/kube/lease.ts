import type { KubeClient } from './client.ts';
import type { Clock, Random } from './clock.ts';

export interface LeaseOptions {
  readonly client: Pick<KubeClient, 'find' | 'create' | 'patch'>;
  readonly namespace: string;
  readonly name: string;
  /** Unique per process, for example the Pod's name. */
  readonly identity: string;
  readonly clock: Clock;
  readonly random: Random;
  readonly leaseDurationMs?: number;
  readonly renewDeadlineMs?: number;
  readonly retryPeriodMs?: number;
  readonly onChange?: (state: 'campaigning' | 'leading' | 'released', error?: unknown) => void;
}

/** Runs `lead` while this process holds the lease, again and again until the signal aborts. */
export function runWithLease(
  _options: LeaseOptions,
  _signal: AbortSignal,
  _lead: (leading: AbortSignal) => Promise<void>,
): Promise<void> {
  return Promise.reject(new Error('being built'));
}
