import { lstatSync, readdirSync, readFileSync, readlinkSync, statSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import type { Place } from '../planning/backend.ts';
import type { HostFile } from '../snapshot.ts';

/**
 * Returns directory entries with this suffix; empty without the directory. Entries other than files count too, without
 * text: their name is taken.
 */
export function readHostFiles(hostRoot: string, { directory, suffix }: Place): HostFile[] {
  return namesIn(join(hostRoot, directory))
    .filter((name) => name.endsWith(suffix) && !name.startsWith('.'))
    .toSorted()
    .flatMap((name) => readHostFile(hostRoot, `${directory}/${name}`) ?? []);
}

/** Returns names in a directory; empty if missing. Throws if unreadable. */
export function namesIn(directory: string): string[] {
  try {
    return readdirSync(directory);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
    return [];
  }
}

/** Errors for an unreadable file. Root without capabilities gets EACCES; a link may lead outside the mounts. */
const unreadable = new Set(['EACCES', 'ENOENT', 'ENOTDIR', 'ELOOP']);

/** Reads the entry with this name; undefined if deleted after listing. */
function readHostFile(hostRoot: string, path: string): HostFile | undefined {
  try {
    const real = followed(hostRoot, path);
    if (real === masked) return { path, text: '', mode: 0 };
    const status = statSync(real);
    const mode = status.mode & 0o777;
    const { uid, gid } = status;
    // Reading a pipe would block forever.
    const text = status.isFile() ? readFileSync(real, 'utf8') : '';
    return { path, text, mode, ...(uid === 0 && gid === 0 ? {} : { owner: `${uid}:${gid}` }) };
  } catch (error) {
    const { code = '' } = error as NodeJS.ErrnoException;
    if (!unreadable.has(code)) throw error;
    if (code === 'ENOENT' && !isThere(hostRoot, path)) return undefined;
    return { path, text: '', mode: 0, unread: code };
  }
}

/** Link target for a masked file: no configuration here. */
const masked = '/dev/null';
/** The kernel's limit for followed links (path_resolution(7)). */
const maxLinks = 40;

/** Resolves a host path through links; an absolute target starts at the host's root, not at the container's. */
function followed(hostRoot: string, path: string): string {
  let real = join(hostRoot, path);
  for (let links = 0; links < maxLinks && lstatSync(real).isSymbolicLink(); links++) {
    const target = readlinkSync(real);
    real = target.startsWith('/') ? join(hostRoot, target) : resolve(dirname(real), target);
    // The agent has no mount for /dev/null.
    if (real === join(hostRoot, masked)) return masked;
  }
  return real;
}

/** True if the host has this path; a link to another path on the host counts. */
export function isThere(hostRoot: string, path: string): boolean {
  return lstatSync(join(hostRoot, path), { throwIfNoEntry: false }) !== undefined;
}
