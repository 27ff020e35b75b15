import { setFlagsFromString } from 'node:v8';

/** By then everything has been read for the first time. */
const settledMs = 20_000;
/** To collect more would hold up the process for longer than a few hundredths of a second. */
const mostBytes = 32 * 1024 * 1024;

/**
 * Gives back, once, what starting has left in the heap: 5 MB that V8 keeps for as long as little happens, because only
 * new objects make it look for garbage; and the code of what only starting called, which it would drop at the sixth time (1 MB).
 * Does nothing in a Node.js without --expose-gc.
 */
export function dropStartupGarbage(): void {
  setTimeout(() => {
    const { gc } = globalThis;
    if (!gc || process.memoryUsage().heapUsed > mostBytes) return;
    // Code is compiled again when it is called again; that would cost too much each time.
    setFlagsFromString('--stress-flush-code');
    gc({ type: 'major', flavor: 'last-resort' });
    setFlagsFromString('--no-stress-flush-code');
  }, settledMs).unref();
}
