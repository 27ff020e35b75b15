import type { Clock } from '../../time/clock.ts';

/** How long the kernel, udev and others may take until a change shows. */
const patienceMs = 3_000;
const pauseMs = 50;

/**
 * Looks until nothing is outstanding or patience is over; resolves to the last look. The first look is at once: netlink
 * changes show when the call returns, only what others do to the link takes time.
 */
export async function lookUntil<T>(
  look: () => Promise<T>,
  isDone: (seen: T) => boolean,
  clock: Clock,
): Promise<T> {
  const end = clock.monotonicMs() + patienceMs;
  for (;;) {
    const seen = await look();
    if (isDone(seen) || clock.monotonicMs() >= end) return seen;
    await clock.sleep(pauseMs);
  }
}
