import { systemClock } from '../../../src/time/clock.ts';
import { scaled } from '../../speed.ts';

const pollMs = 50;
const limitMs = scaled(60_000);

/** Asks again until the answer is neither undefined nor false; rejects after a minute with what was waited for. */
export async function eventually<T>(
  what: string,
  ask: () => Promise<T | undefined | false> | T | undefined | false,
): Promise<T> {
  const startedAt = systemClock.monotonicMs();
  for (;;) {
    const answer = await ask();
    if (answer !== undefined && answer !== false) return answer;
    if (systemClock.monotonicMs() - startedAt > limitMs) throw new Error(`waited for: ${what}`);
    await systemClock.sleep(pollMs);
  }
}
