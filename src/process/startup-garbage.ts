import { setFlagsFromString } from 'node:v8';

/** By then everything has been read for the first time. */
const settledMs = 30_000;
/** To collect more would hold up the process for longer than a few hundredths of a second. */
const mostBytes = 32 * 1024 * 1024;

const thorough = ['stress-flush-code', 'compact-on-every-full-gc'] as const;

/**
 * Gives back, once, what starting has left in the heap: 5 MB that V8 keeps for as long as little happens, because only
 * new objects make it look for garbage; and the code of what only starting called, which it would drop at the
 * sixth time (1 MB).
 * Does nothing in a Node.js without --expose-gc.
 */
export function dropStartupGarbage(): void {
  setTimeout(() => {
    const { gc } = globalThis;
    if (!gc || process.memoryUsage().heapUsed > mostBytes) return;
    // Code is compiled again when it is called again, and what lives is moved together; that would cost too much each time.
    for (const flag of thorough) setFlagsFromString(`--${flag}`);
    gc({ type: 'major', flavor: 'last-resort' });
    for (const flag of thorough) setFlagsFromString(`--no-${flag}`);
  }, settledMs).unref();
}
