// How each part is started, wherever it runs: from its image, in the rig, and in tests.
//   entry-point.ts PART     prints the command of its image, as JSON
import { type HeapOwner, heapFlags, memoryEnvironment } from '../src/process/heap.ts';

export interface EntryPoint {
  /** What is executed; the part's own flags follow. */
  readonly command: readonly [string, ...string[]];
  readonly env: Readonly<Record<string, string>>;
}

export interface EntryPointOptions {
  /** Node.js 24. */
  readonly node: string;
  /** `main.mjs` of the bundle. */
  readonly main: string;
  /** Flags of Node.js beside those of the heap. */
  readonly flags?: readonly string[];
  /** Startup snapshot of the part, which then does not load `main`; undefined: none. */
  readonly snapshot?: string;
}

/** Where everything is in an image. */
export const inImage = { node: '/usr/local/bin/node', main: '/app/main.mjs' };

/** With the limits of its heap: a part without them takes as much as the machine gives. */
export function entryPoint(
  part: HeapOwner,
  { node, main, flags = [], snapshot }: EntryPointOptions = inImage,
): EntryPoint {
  const program = snapshot === undefined ? main : `--snapshot-blob=${snapshot}`;
  return { command: [node, ...heapFlags(part), ...flags, program, part], env: memoryEnvironment };
}

if (import.meta.main) {
  const [part] = process.argv.slice(2);
  console.log(JSON.stringify(entryPoint(part as HeapOwner).command));
}
