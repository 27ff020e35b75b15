import { setImmediate as nextTurn } from 'node:timers/promises';

/** Nobody notices a pause of so long. */
const sliceMs = 10;

/** Does work of many small steps; after each slice of them whatever else waits for the event loop has its turn. */
export async function inSlices<T>(
  steps: Iterator<undefined, T>,
  clock: { monotonicMs(): number },
  signal: AbortSignal,
): Promise<T> {
  let began = clock.monotonicMs();
  for (;;) {
    const { done, value } = steps.next();
    if (done) return value;
    if (clock.monotonicMs() - began < sliceMs) continue;
    await nextTurn();
    signal.throwIfAborted();
    began = clock.monotonicMs();
  }
}
