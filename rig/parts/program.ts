import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { type EntryPoint, entryPoint } from '../../build/entry-point.ts';
import type { HeapOwner } from '../../src/process/heap.ts';

/** Whatever runs a part runs the files of the images: `make build` makes them, and so do the tests before they begin. */
export const bundleFolder = join(import.meta.dirname, '../../dist');

/** Returns the Node that runs us, and the entry of a bundle. */
export function within(bundle: string) {
  return { node: process.execPath, main: join(bundle, 'main.mjs') };
}

/** Startup snapshot of the agent in a bundle's folder; missing where Node cannot make one. */
export function snapshotIn(bundle: string): string {
  return join(bundle, 'agent.blob');
}

/** A part as its image starts it, by the Node that runs us; `bundle` is the folder of another version. */
export function program(part: HeapOwner, bundle = bundleFolder): EntryPoint {
  const snapshot = snapshotIn(bundle);
  const isSnapshot = part === 'agent' && existsSync(snapshot);
  return entryPoint(part, { ...within(bundle), ...(isSnapshot ? { snapshot } : {}) });
}
