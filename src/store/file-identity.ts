import { stat } from 'node:fs/promises';

/** Which file a path leads to; undefined: there is none. A file that is replaced under its name has another inode. */
export async function fileIdentity(path: string): Promise<string | undefined> {
  try {
    const { dev, ino } = await stat(path);
    return `${dev}:${ino}`;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
    return undefined;
  }
}
