import { linkSync, readFileSync, renameSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import type { Effect } from '../../api/effects.ts';
import type { Perform } from '../../process/effects.ts';
import type { Clock } from '../../time/clock.ts';
import { type FileChange, type FileChanges, inOrder, lasting } from '../planning/unit.ts';
import { keepBackup } from './backup.ts';
import { isThere, removeFile, renameFile, syncPath, textOf, writeNew } from './whole-file.ts';

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

/**
 * The commit, with what comes before it and what it makes obsolete. `syncFiles` makes it last. What stands in for others stays
 * until these are let go: it is in their place while they are brought back, too.
 */
export async function commitFiles(files: FileChanges, disk: Disk): Promise<void> {
  // The routes of a profile before the profile itself.
  for (const change of files.interim ?? []) {
    await putInPlace([change], disk);
    await syncDirectories([change], disk);
  }
  const [first, second, last] = stepsOf(files);
  await putInPlace(first, disk);
  // A power cut may keep the later of two renames alone, in particular in another directory.
  await syncDirectories(first, disk);
  await putInPlace(second, disk);
  if (last.length > 0) await syncDirectories(second, disk);
  await putInPlace(last, disk);
}

/**
 * What comes after what. Where others stand in for them it is the profile before its routes: that of an earlier agent is taken
 * as readily as what stands in for it, and must not be there with routes of another.
 */
function stepsOf({ interim, companions, commit, obsolete }: FileChanges) {
  return interim
    ? ([[commit], companions, obsolete] as const)
    : ([companions, [commit], obsolete] as const);
}

/** Once all the others are what they shall be: the profile before its routes. */
async function dropInterim(files: FileChanges, disk: Disk): Promise<void> {
  if (!files.interim) return;
  await syncDirectories(lasting(files), disk);
  for (const change of files.interim.toReversed()) {
    const { path, staged } = placesOf(change, disk);
    await disk.perform('agent.file.remove', async () => {
      if (textOf(path) === change.after) removeFile(path);
      removeFile(staged);
    });
    await syncDirectories([change], disk);
  }
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
export function isCommitted({ commit, interim = [] }: FileChanges, { hostRoot }: Disk): boolean {
  const deciding = [commit, ...interim.slice(-1)];
  return deciding.some(({ path, after }) => textOf(join(hostRoot, path)) === after);
}

export interface DatedDisk extends Disk {
  readonly clock: Pick<Clock, 'now'>;
}

/**
 * Lets go of the old files after a commit, which become backups, and of what stood in for others; may be called twice. Resolves
 * to what could not be kept, in words: that stops nothing.
 */
export async function settleFiles(files: FileChanges, disk: DatedDisk): Promise<string[]> {
  await dropInterim(files, disk);
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
  if (files.interim) await putLate(files, disk);
  for (const change of files.obsolete) {
    const { path, old } = placesOf(change, disk);
    if (textOf(path) !== change.before) continue;
    await disk.perform('agent.file.remove', async () => renameFile(path, old));
  }
  const lost = await settleFiles(files, disk);
  await syncFiles([files], disk);
  return lost;
}

/** What was still to be written when others stood in for it, or were about to. What was staged is on the disk. */
async function putLate(files: FileChanges, disk: Disk): Promise<void> {
  const isLate = ({ path, before, changed: isChanged }: FileChange): boolean =>
    isChanged && textOf(join(disk.hostRoot, path)) === before;
  if (!lasting(files).some(isLate)) return;
  const [first, second] = stepsOf(files);
  for (const change of [...(files.interim ?? []), ...first, ...second].filter(isLate)) {
    const { after } = change;
    if (after === null) continue;
    await disk.perform('agent.file.commit', () => put(change, after, disk));
    await syncDirectories([change], disk);
  }
}

/** Puts in its place what was staged, or writes it anew: NetworkManager reads whatever is not hidden. */
async function put(change: FileChange, text: string, disk: Disk): Promise<void> {
  const { path, staged } = placesOf(change, disk);
  if (textOf(staged) !== text) {
    writeNew(staged, text, change.mode);
    await syncPath(staged);
  }
  renameSync(staged, path);
}

/**
 * Brings every file back, in reverse order, as the very file it was where that is still held; may be called twice. What
 * others have put in the place of one stays.
 */
export async function restoreFiles(files: FileChanges, disk: Disk): Promise<void> {
  for (const step of stepsOf(files).toReversed()) {
    await restoreAll(step, disk);
    await syncDirectories(step, disk);
  }
  for (const change of files.interim?.toReversed() ?? []) {
    await restoreAll([change], disk);
    await syncDirectories([change], disk);
  }
}

async function restoreAll(files: readonly FileChange[], disk: Disk): Promise<void> {
  for (const change of files.filter((file) => file.changed).toReversed()) {
    await disk.perform('agent.file.remove', () => restore(change, disk));
  }
}

async function restore(change: FileChange, disk: Disk): Promise<void> {
  const { path, staged, old } = placesOf(change, disk);
  const text = textOf(path);
  const ours = text === change.after || text === null;
  if (ours && text !== change.before) {
    if (change.before === null) removeFile(path);
    else if (textOf(old) === change.before) renameSync(old, path);
    else await put(change, change.before, disk);
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
