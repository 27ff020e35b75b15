import { setTimeout as sleep } from 'node:timers/promises';
import { scaled } from '../speed.ts';

/**
 * Waits until the assertion holds; rejects with its error after `patienceMs`. A longer interval suits an assertion
 * costing the host more than a few milliseconds.
 */
export async function eventually(
  assertion: () => Promise<void>,
  patienceMs = scaled(20_000),
  intervalMs = 20,
): Promise<void> {
  const end = performance.now() + patienceMs;
  for (;;) {
    try {
      await assertion();
      return;
    } catch (error) {
      if (performance.now() > end) throw error;
      await sleep(intervalMs);
    }
  }
}
