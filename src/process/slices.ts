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

/** So many small things at once take some milliseconds. */
const turnSize = 100;

/** Maps many items; after some of them whatever else waits for the event loop has its turn. */
export async function inTurns<T, R>(items: readonly T[], map: (item: T) => R): Promise<R[]> {
  const results: R[] = [];
  for (const item of items) {
    if (results.length > 0 && results.length % turnSize === 0) await nextTurn();
    results.push(map(item));
  }
  return results;
}
