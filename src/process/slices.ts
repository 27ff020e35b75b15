import { setImmediate as nextLoop } from 'node:timers/promises';

/** Nobody notices a pause of so long. */
const sliceMs = 10;

let line: Promise<unknown> = Promise.resolve();

/**
 * Lets whatever else waits for the event loop have its turn. Several that wait continue one per loop: Node.js would go on
 * with all of them before it looks at a timer or a socket.
 */
export async function nextTurn(): Promise<void> {
  const turn = line.then(async () => nextLoop());
  line = turn;
  await turn;
}

/** Does work of many small steps; after each slice of them others have their turn. */
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
const turnSize = 25;

/** Maps many items; after some of them others have their turn. */
export async function inTurns<T, R>(items: readonly T[], map: (item: T) => R): Promise<R[]> {
  const results: R[] = [];
  for (const item of items) {
    if (results.length > 0 && results.length % turnSize === 0) await nextTurn();
    results.push(map(item));
  }
  return results;
}
