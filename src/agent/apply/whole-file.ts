import {
  closeSync,
  fsync,
  linkSync,
  lstatSync,
  openSync,
  readFileSync,
  renameSync,
  unlinkSync,
  writeFileSync,
} from 'node:fs';
import { dirname } from 'node:path';
import { promisify } from 'node:util';

// Synchronous except for disk syncs: files have a few hundred bytes, in a process without other work, and a thread pool
// round trip costs more than the write. Disk syncs run for all files at once.

/**
 * Writes a file atomically: a crash leaves the complete old or new file. `syncPath` on its directory makes the new file
 * durable.
 */
export async function writeWhole(path: string, text: string, mode: number): Promise<void> {
  const growing = `${path}.new`;
  writeNew(growing, text, mode);
  await syncPath(growing);
  renameSync(growing, path);
}

/** Replaces a file readers use at once: if the disk sync fails, the old file comes back, without needing space. */
export async function replaceWhole(path: string, text: string, mode: number): Promise<void> {
  const former = `${path}.old`;
  removeFile(former);
  if (isThere(path)) linkSync(path, former);
  await writeWhole(path, text, mode);
  try {
    await syncPath(dirname(path));
  } catch (error) {
    if (isThere(former)) renameSync(former, path);
    else removeFile(path);
    throw error;
  }
  try {
    removeFile(former);
  } catch {
    // A leftover does no harm: the file itself is correct.
  }
}

/** Writes a file nothing reads yet, in place of a leftover; leaves none on failure. */
export function writeNew(path: string, text: string, mode: number): void {
  removeFile(path);
  try {
    // wx: never follow a link placed there meanwhile.
    writeFileSync(path, text, { flag: 'wx', mode });
  } catch (error) {
    removeFile(path);
    throw error;
  }
}

/** Removes a file if present. */
export function removeFile(path: string): void {
  if (isThere(path)) ifThere(() => unlinkSync(path));
}

/** Renames a file if present. */
export function renameFile(from: string, to: string): void {
  if (isThere(from)) ifThere(() => renameSync(from, to));
}

/** Returns the file's text; empty for a directory, null if absent. */
export function textOf(path: string): string | null {
  try {
    return ifThere(() => readFileSync(path, 'utf8')) ?? null;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EISDIR') throw error;
    return '';
  }
}

/** Syncs a file, or a directory's names, to disk: only then do they survive a power cut. */
export async function syncPath(path: string): Promise<void> {
  const descriptor = openSync(path, 'r');
  try {
    await promisify(fsync)(descriptor);
  } finally {
    closeSync(descriptor);
  }
}

/** Check before a change: for a missing file a read-only file system reports EROFS, not ENOENT. */
export function isThere(path: string): boolean {
  return lstatSync(path, { throwIfNoEntry: false }) !== undefined;
}

function ifThere<T>(act: () => T): T | undefined {
  try {
    return act();
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
    return undefined;
  }
}
