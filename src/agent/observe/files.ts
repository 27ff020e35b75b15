import { readdir, readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { HostFile } from '../host.ts';

/** Files of a directory of the host with this suffix; undefined when the host has no such directory. */
export async function readHostFiles(
  hostRoot: string,
  directory: string,
  suffix: string,
): Promise<HostFile[] | undefined> {
  let entries: string[];
  try {
    entries = await readdir(join(hostRoot, directory));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
  const names = entries.filter((name) => name.endsWith(suffix) && !name.startsWith('.')).toSorted();
  const files = await Promise.all(
    names.map((name) => readHostFile(hostRoot, `${directory}/${name}`)),
  );
  return files.filter((file) => file !== undefined);
}

/** One file of the host; undefined when there is none. */
export async function readHostFile(hostRoot: string, path: string): Promise<HostFile | undefined> {
  const real = join(hostRoot, path);
  try {
    const [text, { mode }] = await Promise.all([readFile(real, 'utf8'), stat(real)]);
    return { path, text, mode: mode & 0o777 };
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code;
    if (code === 'ENOENT' || code === 'EISDIR') return undefined;
    throw error;
  }
}
