import { setFlagsFromString } from 'node:v8';

/** After 30 s every resource has been read for the first time. */
const delayMs = 30_000;
/** Heap limit: collecting a larger heap would block the process longer than a few hundredths of a second. */
const maxHeapBytes = 32 * 1024 * 1024;

const thorough = ['stress-flush-code', 'compact-on-every-full-gc'] as const;

/**
 * Frees start-up garbage once. 5 MB: V8 keeps this garbage while the process is idle, because only allocations start
 * a collection. 1 MB: code only the start used, dropped by V8 only at the sixth collection. Does nothing without
 * --expose-gc.
 */
export function dropStartupGarbage(): void {
  setTimeout(() => {
    const { gc } = globalThis;
    if (!gc || process.memoryUsage().heapUsed > maxHeapBytes) return;
    // These flags drop compiled code (compiled again on its next call) and compact live objects; too expensive for
    // every collection.
    for (const flag of thorough) setFlagsFromString(`--${flag}`);
    gc({ type: 'major', flavor: 'last-resort' });
    for (const flag of thorough) setFlagsFromString(`--no-${flag}`);
  }, delayMs).unref();
}
