import { setTimeout as sleep } from 'node:timers/promises';

/** Waits until the assertion holds; rejects with its complaint when it still does not after 20 s. */
export async function eventually(assertion: () => Promise<void>): Promise<void> {
  const end = performance.now() + 20_000;
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
