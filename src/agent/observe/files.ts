import { existsSync, lstatSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import type { ConfigFile, HostFile } from '../host.ts';
import { sha256 } from '../sha256.ts';
import type { HostState } from '../state.ts';

/** Files of a directory of the host with this suffix; none when there is no such directory. */
export function readHostFiles(hostRoot: string, directory: string, suffix: string): HostFile[] {
  const real = join(hostRoot, directory);
  if (!existsSync(real)) return [];
  return readdirSync(real, { withFileTypes: true })
    .filter((entry) => !entry.isDirectory() && entry.name.endsWith(suffix))
    .map((entry) => entry.name)
    .filter((name) => !name.startsWith('.'))
    .toSorted()
    .flatMap((name) => readHostFile(join(real, name), `${directory}/${name}`) ?? []);
}

/** A link may lead to nowhere, seen from a container; what cannot be read is there all the same. */
function readHostFile(real: string, path: string): HostFile | undefined {
  try {
    return { path, text: readFileSync(real, 'utf8'), mode: statSync(real).mode & 0o777 };
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'EACCES') return { path, text: '', mode: 0 };
    // A link that leads to a directory is no file, whatever its name.
    if (code === 'ENOENT' || code === 'EISDIR') return undefined;
    throw error;
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
