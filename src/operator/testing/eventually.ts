import { systemClock } from '../../time/clock.ts';

/** Shorter than the limit of a test, whose message would not say the state. */
const limitMs = 55_000;

/** Waits for a state, however long it takes to come. */
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
