/**
 * Limits of V8's heap for each part, in MB: `young` for what was just made (its default of 16 grows the process by 50 MB
 * for nothing), `old` for what stays. V8 collects when a limit comes near: without one it takes as much as the machine
 * gives before it looks for garbage.
 */
const heaps = {
  operator: { young: 4, old: 288 },
  viola: { young: 2, old: 128 },
  controller: { young: 4, old: 128 },
  lifecycle: { young: 2, old: 96 },
  agent: { young: 2, old: 104 },
} as const;

export type HeapOwner = keyof typeof heaps;

/** In MB. */
export interface HeapLimits {
  readonly young: number;
  readonly old: number;
}

export function heapLimits(part: HeapOwner): HeapLimits {
  return heaps[part];
}

/** The flags of Node.js with which a part is started, on its command line: NODE_OPTIONS does not take all of them. */
export function heapFlags(part: HeapOwner): readonly string[] {
  const { young, old } = heapLimits(part);
  const limits = [`--max-semi-space-size=${young}`, `--max-old-space-size=${old}`];
  // Code between interpreted and optimized, which is compiled for what runs seldom too, is 2 MB.
  if (part !== 'agent') return [...limits, '--expose-gc', '--no-sparkplug'];
  // An agent works for a fraction of a second: no compiled code pays for its making (8 % of the CPU time, 9 MB), and it ends
  // before startup-garbage.ts would pay.
  return [...limits, '--no-sparkplug', '--no-maglev', '--no-opt'];
}

/**
 * Environment of every part. glibc keeps what was freed in one arena per core, and serves ever larger blocks from them;
 * with these a freed body of an answer goes back to the system (15 MB less in a controller of 10,000 objects), and so do
 * the blocks of 32 KB in which V8 parses and compiles (8 MB less in a part that has just started). It asks for memory a
 * page at a time and not 128 KB ahead, and gives as much back (1 MB less).
 */
export const memoryEnvironment = {
  MALLOC_ARENA_MAX: '1',
  MALLOC_MMAP_THRESHOLD_: '32768',
  MALLOC_TOP_PAD_: '0',
} as const;
