import { open, rename, rm } from 'node:fs/promises';

/**
 * Writes a file so that after a crash it is there as a whole or as it was before; `syncDirectory` of where it is makes
 * sure which.
 */
export async function writeWhole(path: string, text: string, mode: number): Promise<void> {
  const growing = `${path}.new`;
  await writeNew(growing, text, mode);
  await rename(growing, path);
}

/** Writes a file that nobody reads yet down to the disk, in place of a leftover; leaves none when it cannot. */
export async function writeNew(path: string, text: string, mode: number): Promise<void> {
  await rm(path, { force: true });
  // wx: never through a link that somebody put there meanwhile.
  await using file = await open(path, 'wx', mode);
  try {
    await file.writeFile(text);
    await file.sync();
  } catch (error) {
    await rm(path, { force: true });
    throw error;
  }
}

/** Makes renames and removals in a directory survive a power cut. */
export async function syncDirectory(path: string): Promise<void> {
  await using directory = await open(path, 'r');
  await directory.sync();
}
