/**
 * V8 heap limits for each part, in MB. `young`: new objects (V8's default 16 adds 50 MB to the process without
 * benefit); `old`: long-lived objects. V8 collects garbage near a limit; without limits the heap first grows to the
 * machine's memory.
 */
const heaps = {
  operator: { young: 4, old: 288 },
  viola: { young: 2, old: 128 },
  controller: { young: 4, old: 144 },
  lifecycle: { young: 2, old: 96 },
  agent: { young: 2, old: 104 },
} as const;

export type HeapOwner = keyof typeof heaps;

/** Limits in MB. */
export interface HeapLimits {
  readonly young: number;
  readonly old: number;
}

export function heapLimits(part: HeapOwner): HeapLimits {
  return heaps[part];
}

/** Returns the Node.js command-line flags for a part; NODE_OPTIONS rejects some flags. */
export function heapFlags(part: HeapOwner): readonly string[] {
  const { young, old } = heapLimits(part);
  const limits = [`--max-semi-space-size=${young}`, `--max-old-space-size=${old}`];
  // Baseline code (sparkplug), compiled even for rarely called functions, costs 2 MB.
  if (part !== 'agent') {
    const all = [...limits, '--expose-gc', '--no-sparkplug'];
    // For 4 MB of new objects parallel collection needs more CPU time (0.6 of 8 s in a restart of the controller).
    return part === 'controller' ? [...all, '--no-parallel-scavenge'] : all;
  }
  // An agent runs for a fraction of a second: compiled code costs more than it saves (8 % CPU time, 9 MB), and the
  // process exits before memory-release.ts would help.
  return [...limits, '--no-sparkplug', '--no-maglev', '--no-opt'];
}

/**
 * Environment for every part. glibc keeps freed memory in one arena per core, and serves ever larger blocks from
 * there. With these values freed response bodies return to the system (15 MB less in a controller with 10,000
 * objects). The same applies to V8's 32 KB blocks for parsing and compiling (8 MB less in a newly started part).
 * glibc requests memory page by page, not 128 KB ahead, and returns as much (1 MB less).
 */
export const memoryEnvironment = {
  MALLOC_ARENA_MAX: '1',
  MALLOC_MMAP_THRESHOLD_: '32768',
  MALLOC_TOP_PAD_: '0',
} as const;
