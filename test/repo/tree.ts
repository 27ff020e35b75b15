import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

export const root = join(import.meta.dirname, '..', '..');

/** Paths of all files below a directory of the tree, relative to its root. */
export function filesBelow(directory: string): string[] {
  return readdirSync(join(root, directory), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && !entry.parentPath.includes('node_modules'))
    .map((entry) => join(entry.parentPath, entry.name).slice(root.length + 1))
    .toSorted();
}

/** Text of one file of the tree. */
export function textOf(path: string): string {
  return readFileSync(join(root, path), 'utf8');
}

/** Number of lines of one file of the tree. */
export function linesOf(path: string): number {
  return textOf(path).trimEnd().split('\n').length;
}
