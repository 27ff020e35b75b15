import { readdir, readFile, realpath, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { UnusableSettingError } from '../process/unusable-setting.ts';

/** A grants file, with its user-visible path. */
export interface TokenText {
  readonly path: string;
  readonly text: string;
}

/** Reads the token file, or all `*.yaml` in a folder, as a consistent snapshot; errors name the file. */
export async function readTokenTexts(path: string): Promise<readonly TokenText[]> {
  if (!(await stat(path)).isDirectory()) return [await readOne(path, path)];
  // A kubelet replaces all files in a Secret at once via the link `..data`: files behind one target are consistent.
  const folder = await realpath(join(path, '..data')).catch(() => path);
  const names = (await readdir(folder)).filter((name) => /^[^.].*\.yaml$/.test(name)).toSorted();
  if (names.length === 0) throw new UnusableSettingError(`folder ${path} has no *.yaml file`);
  return Promise.all(names.map((name) => readOne(join(path, name), join(folder, name))));
}

export function isMissing(error: unknown): boolean {
  return (error as NodeJS.ErrnoException).code === 'ENOENT';
}

async function readOne(path: string, place: string): Promise<TokenText> {
  try {
    return { path, text: await readFile(place, 'utf8') };
  } catch (error) {
    if (isMissing(error)) throw error;
    throw new Error(`${path}: ${String(error)}`, { cause: error });
  }
}
