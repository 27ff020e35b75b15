import { lstatSync, readdirSync, readFileSync, readlinkSync, statSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import type { ConfigFile, HostFile } from '../host.ts';
import { sha256 } from '../sha256.ts';
import type { HostState } from '../state.ts';

/**
 * What a directory of the host has under names with this suffix; nothing when there is no such directory. Whatever is no
 * file is there all the same, without a text: its name is taken.
 */
export function readHostFiles(hostRoot: string, directory: string, suffix: string): HostFile[] {
  return namesIn(join(hostRoot, directory))
    .filter((name) => name.endsWith(suffix) && !name.startsWith('.'))
    .toSorted()
    .map((name) => readHostFile(hostRoot, `${directory}/${name}`));
}

/** Names in a directory, of which there are none when it is not there; throws when nobody knows. */
export function namesIn(directory: string): string[] {
  try {
    return readdirSync(directory);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
    return [];
  }
}

/** The agent may read no more than any root without capabilities: EACCES. A link may lead out of what is mounted. */
const unreadable = new Set(['EACCES', 'ENOENT', 'ENOTDIR', 'ELOOP']);

function readHostFile(hostRoot: string, path: string): HostFile {
  try {
    const real = followed(hostRoot, path);
    if (real === masked) return { path, text: '', mode: 0 };
    const status = statSync(real);
    const mode = status.mode & 0o777;
    // A pipe would be waited on for ever.
    return { path, text: status.isFile() ? readFileSync(real, 'utf8') : '', mode };
  } catch (error) {
    const { code = '' } = error as NodeJS.ErrnoException;
    if (!unreadable.has(code)) throw error;
    return { path, text: '', mode: 0, unread: code };
  }
}

/** What a link leads to that says: nothing here. */
const masked = '/dev/null';
/** The kernel gives up after as many links (path_resolution(7)). */
const maxLinks = 40;

/** Where a file of the host is that may be a link; an absolute one begins at the host's root and not at ours. */
function followed(hostRoot: string, path: string): string {
  let real = join(hostRoot, path);
  for (let links = 0; links < maxLinks && lstatSync(real).isSymbolicLink(); links++) {
    const target = readlinkSync(real);
    if (target === masked) return masked;
    real = target.startsWith('/') ? join(hostRoot, target) : resolve(dirname(real), target);
  }
  return real;
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
