import { setTimeout as sleep } from 'node:timers/promises';

/** Waits until the assertion holds; rejects with its complaint when it still does not after a while. */
export async function eventually(
  assertion: () => Promise<void>,
  patienceMs = 20_000,
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
