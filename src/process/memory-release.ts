import { setFlagsFromString } from 'node:v8';

/** After 30 s every resource has been read for the first time. */
const delayMs = 30_000;
/** Syncs with changes are 20 s apart. */
const intervalMs = 15_000;
/** Heap limit: collecting a larger heap would block the process longer than a few hundredths of a second. */
const maxHeapBytes = 48 * 1024 * 1024;
/** Growth factor of the heap between collections. */
const growth = 1.25;
/** Longest pause between collections: 16 intervals of 15 s. */
const maxPause = 16;

const thorough = ['stress-flush-code', 'compact-on-every-full-gc'] as const;

/**
 * Returns unused heap pages to the system: once after the start, then after the heap has grown by a quarter. V8
 * retains the pages of a burst in a busy process: 30 MB after a sync of 1,000 servers. A collection blocks the process
 * for 50 ms: while the heap only grows back to its size before the last collection, as each poll makes the heap do, the
 * pauses double. Does nothing without --expose-gc.
 */
export function releaseMemoryRegularly(): void {
  const { gc } = globalThis;
  if (!gc) return;
  const size = { usual: 0, released: 0 };
  const intervals = { pause: 1, left: 0 };
  const release = () => {
    const { heapUsed, heapTotal } = process.memoryUsage();
    intervals.left -= 1;
    if (heapUsed > maxHeapBytes || heapTotal < size.released * growth) return;
    const isUsual = heapTotal < size.usual * growth;
    if (isUsual && intervals.left > 0) return;
    intervals.pause = isUsual ? Math.min(intervals.pause * 2, maxPause) : 1;
    intervals.left = intervals.pause;
    size.usual = heapTotal;
    gc({ type: 'major', flavor: 'last-resort' });
    size.released = process.memoryUsage().heapTotal;
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
