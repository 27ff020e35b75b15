import { link, readFile, rename, rm } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import type { Effect } from '../../api/effects.ts';
import type { Perform } from '../../process/effects.ts';
import { fileMode } from '../planning/files.ts';
import type { FileChange, Unit } from '../planning/unit.ts';
import { syncDirectory, writeNew, writeWhole } from './disk.ts';

export interface Disk {
  readonly hostRoot: string;
  readonly perform: Perform<Effect>;
}

type Files = Pick<Unit, 'files'>['files'];

/**
 * Puts what is to be written beside the files, on the disk, and keeps hold of the old ones: from here on neither the
 * change nor its undoing needs space. The names are hidden and of no suffix that a network service reads.
 */
export async function stageFiles(files: Files, disk: Disk): Promise<void> {
  for (const change of changed(files)) {
    const { path, staged, old } = placesOf(change, disk);
    await disk.perform('agent.file.stage', async () => {
      await rm(old, { force: true });
      if (change.after !== null) await writeNew(staged, change.after, fileMode);
      if (change.before !== null && change.after !== null) await link(path, old);
    });
  }
}

/** The commit: the file that holds the addresses first, then those that it replaces. `syncFiles` makes it last. */
export async function commitFiles(files: Files, disk: Disk): Promise<void> {
  for (const change of changed(files)) {
    const { path, staged, old } = placesOf(change, disk);
    if (change.after === null) {
      await disk.perform('agent.file.remove', () => renamed(path, old));
    } else await disk.perform('agent.file.commit', () => rename(staged, path));
  }
}

/** Makes sure that renames and removals of these files are so after a power cut too. */
export async function syncFiles(files: readonly FileChange[], { hostRoot }: Disk): Promise<void> {
  const directories = changed(files).map(({ path }) => dirname(join(hostRoot, path)));
  for (const directory of new Set(directories)) await syncDirectory(directory);
}

/** Whether the commit has happened: the first file says what it shall say. */
export async function isCommitted([main]: Files, { hostRoot }: Disk): Promise<boolean> {
  return (await textOf(join(hostRoot, main.path))) === main.after;
}

/** Lets go of the old files after a commit; may be called twice. */
export async function settleFiles(files: Files, disk: Disk): Promise<void> {
  for (const change of changed(files).filter(({ before }) => before !== null)) {
    const { staged, old } = placesOf(change, disk);
    await disk.perform('agent.file.remove', () => removed(staged, old));
  }
}

/** Finishes a commit that was interrupted after its first file. */
export async function finishFiles(files: Files, disk: Disk): Promise<void> {
  for (const change of changed(files).slice(1)) {
    const { path } = placesOf(change, disk);
    if ((await textOf(path)) !== change.before) continue;
    await disk.perform('agent.file.remove', () => rm(path, { force: true }));
  }
  await settleFiles(files, disk);
  await syncFiles(files, disk);
}

/** Brings every file back, in reverse order, as the very file it was where that is still held; may be called twice. */
export async function restoreFiles(files: Files, disk: Disk): Promise<void> {
  for (const change of changed(files).toReversed()) {
    await disk.perform('agent.file.remove', () => restore(change, disk));
  }
  await syncFiles(files, disk);
}

async function restore(change: FileChange, disk: Disk): Promise<void> {
  const { path, staged, old } = placesOf(change, disk);
  if ((await textOf(path)) !== change.before) {
    if (change.before === null) await rm(path, { force: true });
    else if ((await textOf(old)) === change.before) await rename(old, path);
    else await writeWhole(path, change.before, fileMode);
  }
  await removed(staged, old);
}

async function renamed(from: string, to: string): Promise<void> {
  try {
    await rename(from, to);
  } catch (error) {
    // Gone already: that is what was wanted.
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
  }
}

async function removed(...paths: readonly string[]): Promise<void> {
  await Promise.all(paths.map((path) => rm(path, { force: true })));
}

function changed(files: readonly FileChange[]): FileChange[] {
  return files.filter((file) => file.changed);
}

function placesOf({ path }: FileChange, { hostRoot }: Disk) {
  const real = join(hostRoot, path);
  const place = (suffix: string) => join(dirname(real), `.${basename(real)}.multinic-${suffix}`);
  return { path: real, staged: place('new'), old: place('old') };
}

async function textOf(path: string): Promise<string | null> {
  try {
    return await readFile(path, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
    throw error;
  }
}
