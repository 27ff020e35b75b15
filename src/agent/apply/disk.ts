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
import { basename, dirname, join } from 'node:path';
import { promisify } from 'node:util';
import type { Effect } from '../../api/effects.ts';
import type { Perform } from '../../process/effects.ts';
import type { Clock } from '../../time/clock.ts';
import { type FileChange, type FileChanges, inOrder } from '../planning/unit.ts';
import { keepBackup } from './backup.ts';

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
function writeNew(path: string, text: string, mode: number): void {
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
function renameFile(from: string, to: string): void {
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
function isThere(path: string): boolean {
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

export interface Disk {
  readonly hostRoot: string;
  readonly perform: Perform<Effect>;
}

/**
 * Writes what is to be written beside the files and keeps hold of the old ones: from here on neither the change nor its
 * undoing needs space. The names are hidden and of no suffix that a network service reads. `syncStaged` makes it last.
 */
export async function stageFiles(files: FileChanges, disk: Disk): Promise<void> {
  for (const change of changed(files)) {
    const { path, staged, old } = placesOf(change, disk);
    await disk.perform('agent.file.stage', async () => {
      removeFile(old);
      if (change.after !== null) writeNew(staged, change.after, change.mode);
      if (change.before !== null && change.after !== null) linkSync(path, old);
    });
  }
}

/** Brings what was staged down to the disk: a renamed file must not be empty after a power cut. */
export async function syncStaged(files: FileChanges, disk: Disk): Promise<void> {
  const staged = changed(files).filter(({ after }) => after !== null);
  await Promise.all(staged.map((change) => syncPath(placesOf(change, disk).staged)));
}

/** The files that are to be written, as they were staged. */
export function stagedFiles(files: FileChanges, disk: Disk): { path: string; text: string }[] {
  return changed(files)
    .filter(({ after }) => after !== null)
    .map((change) => ({
      path: change.path,
      text: readFileSync(placesOf(change, disk).staged, 'utf8'),
    }));
}

/** The commit, with what comes before it and what it makes obsolete. `syncFiles` makes it last. */
export async function commitFiles(files: FileChanges, disk: Disk): Promise<void> {
  const { companions, commit, obsolete } = files;
  await putInPlace(companions, disk);
  // A power cut may keep the later of two renames alone, in particular in another directory.
  await syncDirectories(companions, disk);
  await putInPlace([commit], disk);
  if (obsolete.length > 0) await syncDirectories([commit], disk);
  await putInPlace(obsolete, disk);
}

async function putInPlace(files: readonly FileChange[], disk: Disk): Promise<void> {
  for (const change of files.filter((file) => file.changed)) {
    const { path, staged, old } = placesOf(change, disk);
    // A file that was to go and is gone already is as wanted.
    if (change.after === null) {
      await disk.perform('agent.file.remove', async () => renameFile(path, old));
    } else await disk.perform('agent.file.commit', async () => renameSync(staged, path));
  }
}

/** Makes sure that renames and removals of these files are so after a power cut too. */
export async function syncFiles(files: readonly FileChanges[], disk: Disk): Promise<void> {
  await syncDirectories(files.flatMap(inOrder), disk);
}

async function syncDirectories(files: readonly FileChange[], { hostRoot }: Disk): Promise<void> {
  const written = files.filter((file) => file.changed);
  const directories = written.map(({ path }) => dirname(join(hostRoot, path)));
  for (const directory of new Set(directories)) await syncPath(directory);
}

/** Whether the commit has happened. */
export function isCommitted({ commit }: FileChanges, { hostRoot }: Disk): boolean {
  return textOf(join(hostRoot, commit.path)) === commit.after;
}

export interface DatedDisk extends Disk {
  readonly clock: Pick<Clock, 'now'>;
}

/**
 * Lets go of the old files after a commit, which become backups; may be called twice. Resolves to what could not be kept, in
 * words: that stops nothing.
 */
export async function settleFiles(files: FileChanges, disk: DatedDisk): Promise<string[]> {
  const lost: string[] = [];
  for (const change of changed(files).filter(({ before }) => before !== null)) {
    const { path, staged, old } = placesOf(change, disk);
    const problem = await backUp(old, path, disk);
    if (problem !== undefined) lost.push(`BackupFailed ${change.path}: ${problem}`);
    await disk.perform('agent.file.remove', async () => {
      removeFile(staged);
      removeFile(old);
    });
  }
  return lost;
}

async function backUp(
  old: string,
  path: string,
  { perform, clock }: DatedDisk,
): Promise<string | undefined> {
  if (!isThere(old)) return undefined;
  try {
    await perform('agent.file.backup', async () => keepBackup(old, path, clock.now()));
    return undefined;
  } catch (error) {
    return (error as Error).message;
  }
}

/** Finishes what was interrupted behind the commit; resolves to what could not be kept. */
export async function finishFiles(files: FileChanges, disk: DatedDisk): Promise<string[]> {
  for (const change of files.obsolete) {
    const { path, old } = placesOf(change, disk);
    if (textOf(path) !== change.before) continue;
    await disk.perform('agent.file.remove', async () => renameFile(path, old));
  }
  const lost = await settleFiles(files, disk);
  await syncFiles([files], disk);
  return lost;
}

/**
 * Brings every file back, in reverse order, as the very file it was where that is still held; may be called twice. What
 * others have put in the place of one stays.
 */
export async function restoreFiles(files: FileChanges, disk: Disk): Promise<void> {
  for (const change of changed(files).toReversed()) {
    await disk.perform('agent.file.remove', () => restore(change, disk));
  }
  await syncFiles([files], disk);
}

async function restore(change: FileChange, disk: Disk): Promise<void> {
  const { path, staged, old } = placesOf(change, disk);
  const text = textOf(path);
  const ours = text === change.after || text === null;
  if (ours && text !== change.before) {
    if (change.before === null) removeFile(path);
    else if (textOf(old) === change.before) renameSync(old, path);
    else await writeWhole(path, change.before, change.mode);
  }
  removeFile(staged);
  removeFile(old);
}

function changed(files: FileChanges): FileChange[] {
  return inOrder(files).filter((file) => file.changed);
}

function placesOf({ path }: FileChange, { hostRoot }: Disk) {
  const real = join(hostRoot, path);
  const place = (suffix: string) => join(dirname(real), `.${basename(real)}.multinic-${suffix}`);
  return { path: real, staged: place('new'), old: place('old') };
}
