import { setImmediate as nextLoop } from 'node:timers/promises';

/** Slice length: a 10 ms pause is unnoticeable. */
const sliceMs = 10;

let lastTurn: Promise<unknown> = Promise.resolve();

/**
 * Yields to the event loop. Concurrent waiters resume one per loop: otherwise Node.js would resume all before serving
 * timers and sockets.
 */
export async function nextTurn(): Promise<void> {
  const turn = lastTurn.then(async () => nextLoop());
  lastTurn = turn;
  await turn;
}

/** Runs work with many small steps, yielding to the event loop after each slice. */
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

/** Items per turn: 25 small items take some milliseconds. */
const turnSize = 25;

/** Maps many items, yielding to the event loop after every 25 items. */
export async function inTurns<T, R>(items: readonly T[], map: (item: T) => R): Promise<R[]> {
  const results: R[] = [];
  for (const item of items) {
    if (results.length > 0 && results.length % turnSize === 0) await nextTurn();
    results.push(map(item));
  }
  return results;
}
