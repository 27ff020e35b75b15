import { setFlagsFromString } from 'node:v8';

/** After 30 s every resource has been read for the first time. */
const delayMs = 30_000;
/** Syncs with changes are 20 s apart. */
const intervalMs = 15_000;
/** Heap limit: collecting a larger heap would block the process longer than a few hundredths of a second. */
const maxHeapBytes = 48 * 1024 * 1024;
/** Growth factor of the heap between collections. */
const growth = 1.25;

const thorough = ['stress-flush-code', 'compact-on-every-full-gc'] as const;

/**
 * Returns unused heap pages to the system: once after the start, then after the heap has grown by a quarter. V8
 * retains the pages of a burst in a busy process: 30 MB after a sync of 1,000 servers. A collection blocks the process
 * for 50 ms. Does nothing without --expose-gc.
 */
export function releaseMemoryRegularly(): void {
  const { gc } = globalThis;
  if (!gc) return;
  let retained = 0;
  const release = () => {
    const { heapUsed, heapTotal } = process.memoryUsage();
    if (heapUsed > maxHeapBytes || heapTotal < retained * growth) return;
    gc({ type: 'major', flavor: 'last-resort' });
    retained = process.memoryUsage().heapTotal;
  };
  setTimeout(() => {
    // These flags drop compiled code (compiled again on its next call) and compact live objects; too expensive for
    // every collection.
    for (const flag of thorough) setFlagsFromString(`--${flag}`);
    release();
    for (const flag of thorough) setFlagsFromString(`--no-${flag}`);
    setInterval(release, intervalMs).unref();
  }, delayMs).unref();
}
