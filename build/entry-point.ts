// Commands that start each part: in the image, in the rig, and in tests. `entry-point.ts PART` prints the command of the image as JSON.
import { type HeapOwner, heapFlags, memoryEnvironment } from '../src/process/heap.ts';

export interface EntryPoint {
  /** Command line before the part's own flags. */
  readonly command: readonly [string, ...string[]];
  readonly env: Readonly<Record<string, string>>;
}

export interface EntryPointOptions {
  /** Node.js 24. */
  readonly node: string;
  /** `main.mjs` of the bundle. */
  readonly main: string;
  /** Node.js flags beside the heap limits. */
  readonly flags?: readonly string[];
  /** Startup snapshot for the part, used instead of `main`; undefined: none. */
  readonly snapshot?: string;
}

/** Where everything is in an image. */
export const inImage = { node: '/usr/local/bin/node', main: '/app/main.mjs' };

/** Adds heap limits: without limits V8 sizes the heap by the machine's memory. */
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
