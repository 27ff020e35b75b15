import type { Clock } from '../../time/clock.ts';

/** When a read from a business cluster began. */
export interface ReadTime {
  readonly at: Date;
  /** Monotonic milliseconds. */
  readonly ms: number;
}

export function readTimeOf(clock: Pick<Clock, 'now' | 'monotonicMs'>): ReadTime {
  return { at: clock.now(), ms: clock.monotonicMs() };
}
