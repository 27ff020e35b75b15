import { existsSync, lstatSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import type { ConfigFile, HostFile } from '../host.ts';
import { sha256 } from '../sha256.ts';
import type { HostState } from '../state.ts';

/**
 * What a directory of the host has under names with this suffix; nothing when there is no such directory. Whatever is no
 * file is there all the same, without a text: its name is taken.
 */
export function readHostFiles(hostRoot: string, directory: string, suffix: string): HostFile[] {
  const real = join(hostRoot, directory);
  if (!existsSync(real)) return [];
  return readdirSync(real)
    .filter((name) => name.endsWith(suffix) && !name.startsWith('.'))
    .toSorted()
    .map((name) => readHostFile(join(real, name), `${directory}/${name}`));
}

/** Not to be read by us; a link that leads to nowhere, seen from a container, to a file, or to itself. */
const unreadable = new Set(['EACCES', 'ENOENT', 'ENOTDIR', 'ELOOP']);

function readHostFile(real: string, path: string): HostFile {
  try {
    const status = statSync(real);
    const mode = status.mode & 0o777;
    // A pipe would be waited on for ever.
    return { path, text: status.isFile() ? readFileSync(real, 'utf8') : '', mode };
  } catch (error) {
    if (!unreadable.has((error as NodeJS.ErrnoException).code ?? '')) throw error;
    return { path, text: '', mode: 0 };
  }
}

/** A file that is, to the byte, as the agent wrote it: what it is about is in state.json too. */
export function knownFile(file: HostFile, { nics }: HostState): ConfigFile | undefined {
  const nic = nics.find(({ files }) => files.some(({ path }) => path === file.path));
  const written = nic?.files.find(({ path }) => path === file.path);
  if (!nic || written?.sha256 !== sha256(file.text)) return undefined;
  const { mac, index, addresses } = nic;
  return { ...file, own: { mac, index, addresses }, macs: [mac] };
}

/** Whether the host has this file; one that is a link to another place of the host counts. */
export function isThere(hostRoot: string, path: string): boolean {
  return lstatSync(join(hostRoot, path), { throwIfNoEntry: false }) !== undefined;
}
