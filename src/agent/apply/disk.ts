import { linkSync, readFileSync, renameSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import type { Effect } from '../../api/effects.ts';
import type { Perform } from '../../process/effects.ts';
import type { Clock } from '../../time/clock.ts';
import { type FileChange, type FileChanges, inOrder, lasting } from '../planning/unit.ts';
import { keepBackup } from './backup.ts';
import { expectUnchanged, prepareForeign } from './foreign-file.ts';
import { isThere, removeFile, renameFile, syncPath, textOf, writeNew } from './whole-file.ts';

export interface Disk {
  readonly hostRoot: string;
  readonly perform: Perform<Effect>;
}

/**
 * Stages new files beside the old files and holds the old files by hard links: from here on, neither change nor
 * rollback needs space. The hidden names have no suffix a network service reads. `syncStaged` makes staging durable.
 */
export async function stageFiles(files: FileChanges, disk: Disk): Promise<void> {
  for (const change of changed(files)) {
    const { path, staged, old } = placesOf(change, disk);
    await disk.perform('agent.file.stage', async () => {
      removeFile(old);
      if (change.after !== null) writeNew(staged, change.after, change.mode);
      if (change.foreign) await prepareForeign(change, staged, disk);
      if (change.before !== null && change.after !== null) linkSync(path, old);
    });
  }
}

/** Removes files made by `stageFiles`. Ignores failures: the next staging replaces leftovers. */
export function discardStaged(files: FileChanges, disk: Disk): void {
  for (const change of changed(files)) {
    const { staged, old } = placesOf(change, disk);
    try {
      removeFile(staged);
      removeFile(old);
    } catch {
      // Read-only by now.
    }
  }
}

/** Syncs staged files to disk: a renamed file must not be empty after a power cut. */
export async function syncStaged(files: FileChanges, disk: Disk): Promise<void> {
  const staged = changed(files).filter(({ after }) => after !== null);
  await Promise.all(staged.map((change) => syncPath(placesOf(change, disk).staged)));
}

/** Returns the own files to write, as staged. */
export function stagedFiles(files: FileChanges, disk: Disk): { path: string; text: string }[] {
  return changed(files)
    .filter(({ after, foreign }) => after !== null && !foreign)
    .map((change) => ({
      path: change.path,
      text: readFileSync(placesOf(change, disk).staged, 'utf8'),
    }));
}

/**
 * Commits a change: companions, commit file, obsolete files. `syncFiles` makes the commit durable. Placeholder files
 * stay until `settleFiles`, and also cover a rollback.
 */
export async function commitFiles(files: FileChanges, disk: Disk): Promise<void> {
  // A profile's routes come before the profile.
  for (const change of files.interim ?? []) {
    await putInPlace([change], disk);
    await syncDirectories([change], disk);
  }
  const [first, second, last] = stepsOf(files);
  await putInPlace(first, disk);
  // A power cut may keep only the later of two renames, in particular across directories.
  await syncDirectories(first, disk);
  await putInPlace(second, disk);
  if (last.length > 0) await syncDirectories(second, disk);
  await putInPlace(last, disk);
}

/**
 * Returns file changes in commit order. With placeholders the profile precedes its routes: NetworkManager may prefer an
 * earlier agent's profile to the placeholder, and must not combine old profile and new routes.
 */
function stepsOf({ interim, companions, commit, obsolete }: FileChanges) {
  return interim
    ? ([[commit], companions, obsolete] as const)
    : ([companions, [commit], obsolete] as const);
}

/** Removes placeholder files after all permanent files are durable, the profile before its routes. */
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
    // A file already gone needs no removal.
    if (change.after === null) {
      await disk.perform('agent.file.remove', async () => renameFile(path, old));
    } else {
      await disk.perform('agent.file.commit', async () => {
        if (change.foreign) expectUnchanged(change, path);
        renameSync(staged, path);
      });
    }
  }
}

/** Makes renames and removals durable across a power cut. */
export async function syncFiles(files: readonly FileChanges[], disk: Disk): Promise<void> {
  await syncDirectories(files.flatMap(inOrder), disk);
}

async function syncDirectories(files: readonly FileChange[], { hostRoot }: Disk): Promise<void> {
  const written = files.filter((file) => file.changed);
  const directories = written.map(({ path }) => dirname(join(hostRoot, path)));
  for (const directory of new Set(directories)) await syncPath(directory);
}

/** True if the commit has happened. */
export function isCommitted({ commit, interim = [] }: FileChanges, { hostRoot }: Disk): boolean {
  const deciding = [commit, ...interim.slice(-1)];
  return deciding.some(({ path, after }) => textOf(join(hostRoot, path)) === after);
}

export interface DatedDisk extends Disk {
  readonly clock: Pick<Clock, 'now'>;
}

/**
 * Turns old files into backups after a commit and removes placeholders; idempotent. Returns failed backups as text: a
 * failed backup stops nothing.
 */
export async function settleFiles(files: FileChanges, disk: DatedDisk): Promise<string[]> {
  await dropInterim(files, disk);
  const lost: string[] = [];
  for (const change of changed(files).filter(({ before }) => before !== null)) {
    const { path, staged, old } = placesOf(change, disk);
    const problem = change.foreign ? undefined : await backUp(old, path, disk);
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

/** Finishes a change interrupted after the commit; returns failed backups. */
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

/**
 * Writes files still outdated at the interruption, with placeholders in place or still missing. Staged content is
 * durable already.
 */
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

/**
 * Moves the staged file into place, or writes it again under the hidden name first: NetworkManager reads every visible
 * file.
 */
async function put(change: FileChange, text: string, disk: Disk): Promise<void> {
  const { path, staged } = placesOf(change, disk);
  if (textOf(staged) !== text) {
    writeNew(staged, text, change.mode);
    await syncPath(staged);
  }
  renameSync(staged, path);
}

/**
 * Rolls back all files in reverse order, using the original inode where still held; idempotent. Foreign files in their
 * place stay.
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
  const hidden = (suffix: string) => join(dirname(real), `.${basename(real)}.multinic-${suffix}`);
  return { path: real, staged: hidden('new'), old: hidden('old') };
}
