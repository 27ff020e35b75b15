import { setTimeout as sleep } from 'node:timers/promises';
import { scaled } from '../speed.ts';

/** Waits until the assertion holds; rejects with its complaint when it still does not after a while. */
export async function eventually(
  assertion: () => Promise<void>,
  patienceMs = scaled(20_000),
): Promise<void> {
  const end = performance.now() + patienceMs;
  for (;;) {
    try {
      await assertion();
      return;
    } catch (error) {
      if (performance.now() > end) throw error;
      await sleep(20);
    }
  }
}
