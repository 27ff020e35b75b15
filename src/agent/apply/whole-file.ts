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

// Synchronous but for waiting for the disk: files of a few hundred bytes, in a process that does nothing else, where a
// round through the thread pool costs more than the write. What waits for the disk waits for all files at once.

/**
 * Writes a file so that after a crash it is there as a whole or as it was before; `syncPath` of its directory makes sure
 * which.
 */
export async function writeWhole(path: string, text: string, mode: number): Promise<void> {
  const growing = `${path}.new`;
  writeNew(growing, text, mode);
  await syncPath(growing);
  renameSync(growing, path);
}

/**
 * Writes a file that others go by at once: where it cannot be brought down to the disk, it is as it was before, for which
 * no space is needed.
 */
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
    // A leftover is in nobody's way: the file itself is as it shall be.
  }
}

/** Writes a file that nobody reads yet, in place of a leftover; leaves none when it cannot. */
export function writeNew(path: string, text: string, mode: number): void {
  removeFile(path);
  try {
    // wx: never through a link that somebody put there meanwhile.
    writeFileSync(path, text, { flag: 'wx', mode });
  } catch (error) {
    removeFile(path);
    throw error;
  }
}

/** Removes a file if it is there. */
export function removeFile(path: string): void {
  if (isThere(path)) ifThere(() => unlinkSync(path));
}

/** Renames a file if it is there. */
export function renameFile(from: string, to: string): void {
  if (isThere(from)) ifThere(() => renameSync(from, to));
}

/** The text of a file, which a directory in its place has none of; null when there is nothing. */
export function textOf(path: string): string | null {
  try {
    return ifThere(() => readFileSync(path, 'utf8')) ?? null;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EISDIR') throw error;
    return '';
  }
}

/** Brings a file down to the disk, or the names in a directory: only then do they survive a power cut. */
export async function syncPath(path: string): Promise<void> {
  const descriptor = openSync(path, 'r');
  try {
    await promisify(fsync)(descriptor);
  } finally {
    closeSync(descriptor);
  }
}

/** Asked before a change: of a file that is not there, a read-only file system says EROFS and not ENOENT. */
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
