import {
  closeSync,
  constants,
  fchmodSync,
  fstatSync,
  lstatSync,
  mkdirSync,
  openSync,
  readdirSync,
  renameSync,
  unlinkSync,
} from 'node:fs';
import { basename, dirname, join } from 'node:path';

/**
 * Backup folder beside managed files. No service reads it as configuration: netplan, networkd, udev and sysctl select
 * files by suffix and skip subfolders (netplan's `*.yaml`, conf_files_list in systemd). NetworkManager reads plain
 * files only (nms-keyfile-plugin, nms-ifcfg-rh-plugin). Backup names have no such suffix either.
 */
const folderName = 'backup';
/** Number of backups per file. */
export const backupsPerFile = 5;
/** Size limit in bytes. Managed files have a few kilobytes: a larger file is foreign and not worth the space. */
const maxBytes = 65_536;

/**
 * Moves a replaced file, under its current name, into the backups for `path`. Only renames: needs no space and no disk
 * wait. Throws on failure, leaving the file in place.
 */
export function keepBackup(file: string, path: string, now: Date): void {
  if (!prepare(file)) return;
  const folder = join(dirname(path), folderName);
  makeFolder(folder);
  const existing = backupsOf(basename(path), folder);
  const name = freeName(`${basename(path)}.`, now, folder);
  renameSync(file, join(folder, name));
  for (const obsolete of inOrder(existing, name).slice(0, 1 - backupsPerFile)) {
    remove(join(folder, obsolete));
  }
}

/** Searches a free name: two replacements may share a millisecond, and a clock may go back. */
function freeName(start: string, now: Date, folder: string): string {
  for (let at = now.getTime(); ; at++) {
    const name = start + new Date(at).toISOString().replaceAll(/[-:]/g, '');
    if (!lstatSync(join(folder, name), { throwIfNoEntry: false })) return name;
  }
}

/** Sorts names oldest first. Names later than `newest` come from a wrong clock and count as oldest. */
function inOrder(names: readonly string[], newest: string): string[] {
  return [...names.filter((name) => name > newest), ...names.filter((name) => name < newest)];
}

/** Ignores failures: the backup exists already, and the next backup tries again. */
function remove(path: string): void {
  try {
    unlinkSync(path);
  } catch {
    // Already removed, or protected by an administrator.
  }
}

/** True for a regular file, not a link. Restricts the file to root, as keyfiles require. */
function prepare(file: string): boolean {
  if (!lstatSync(file).isFile()) return false;
  const descriptor = openSync(file, constants.O_RDONLY | constants.O_NOFOLLOW);
  try {
    const { size, nlink } = fstatSync(descriptor);
    if (size > maxBytes) throw new Error(`${size} bytes exceed the limit of ${maxBytes} bytes`);
    // A second hard link may have a foreign owner: keep the mode.
    if (nlink === 1) fchmodSync(descriptor, 0o600);
    return true;
  } finally {
    closeSync(descriptor);
  }
}

function makeFolder(folder: string): void {
  const existing = lstatSync(folder, { throwIfNoEntry: false });
  if (existing === undefined) mkdirSync(folder, { mode: 0o700 });
  else if (!existing.isDirectory()) throw new Error(`${folderName} is not a folder`);
}

/** Returns backup names, sorted by the time in the name. */
function backupsOf(name: string, folder: string): string[] {
  return readdirSync(folder, { withFileTypes: true })
    .filter((each) => each.isFile())
    .map((each) => each.name)
    .filter((each) => each.startsWith(`${name}.`) && isMoment(each.slice(name.length + 1)))
    .toSorted();
}

function isMoment(text: string): boolean {
  return /^\d{8}T\d{6}\.\d{3}Z$/.test(text);
}
