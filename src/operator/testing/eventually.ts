import { scaled } from '../../../test/speed.ts';
import { systemClock } from '../../time/clock.ts';

/** Waits for a state, however long it takes to come. */
export async function eventually<T>(
  read: () => Promise<T> | T,
  holds: (value: T) => boolean,
): Promise<T> {
  const end = systemClock.monotonicMs() + scaled(30_000);
  for (;;) {
    const value = await read();
    if (holds(value)) return value;
    if (systemClock.monotonicMs() > end) throw new Error(`still ${JSON.stringify(value)}`);
    await systemClock.sleep(20);
  }
}
