/** By then everything has been read for the first time. */
const settledMs = 20_000;
/** To collect more would hold up the process for longer than a few hundredths of a second. */
const mostBytes = 32 * 1024 * 1024;

/**
 * Gives back, once, what starting has left in the heap: 5 MB that V8 keeps for as long as little happens, because only
 * new objects make it look for garbage. Does nothing in a Node.js without --expose-gc.
 */
export function dropStartupGarbage(): void {
  setTimeout(() => {
    const { heapUsed } = process.memoryUsage();
    if (heapUsed <= mostBytes) globalThis.gc?.({ type: 'major', flavor: 'last-resort' });
  }, settledMs).unref();
}
