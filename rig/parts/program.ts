import { join } from 'node:path';

/** Whatever runs a part runs the files of the images: `make build` makes them, and so do the tests before they begin. */
export const bundleFolder = join(import.meta.dirname, '../../dist');

/** `multinic`, by the Node that runs us. */
export const program = [process.execPath, join(bundleFolder, 'main.mjs')] as const;

/** `multinic` as a process that can be ended at one of its writes; see kill-at.ts. */
export const mortalProgram = [
  process.execPath,
  '--import',
  join(import.meta.dirname, 'kill-at.ts'),
  program[1],
] as const;

/** The same for a part that is started by `program`: what is preloaded into it. */
export const mortalEnv = { NODE_OPTIONS: mortalProgram.slice(1, 3).join('=') };
