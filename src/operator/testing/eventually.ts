import { systemClock } from '../../time/clock.ts';

/** Shorter than a test's time limit, whose message would not show the state. */
const limitMs = 55_000;

/** Waits until a state holds. */
export async function eventually<T>(
  read: () => Promise<T> | T,
  holds: (value: T) => boolean,
): Promise<T> {
  const end = systemClock.monotonicMs() + limitMs;
  for (;;) {
    const value = await read();
    if (holds(value)) return value;
    if (systemClock.monotonicMs() > end) throw new Error(`still ${JSON.stringify(value)}`);
    await systemClock.sleep(20);
  }
}
