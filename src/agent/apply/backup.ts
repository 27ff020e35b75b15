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
 * Folder beside files of ours for what they were before. Nobody reads it as configuration: netplan, networkd, udev and sysctl
 * take files of a folder by their suffix and none of the folders in it (netplan's `*.yaml`, conf_files_list of systemd), and
 * NetworkManager takes files alone (nms-keyfile-plugin, nms-ifcfg-rh-plugin). The names end in none of those suffixes either.
 */
const folderName = 'backup';
/** Of each file, so many of the last ones. */
export const backupsPerFile = 5;
/** A file of ours has a few kilobytes: what is larger is none that we wrote, and is not worth the host's space. */
const maxBytes = 65_536;

/**
 * Keeps a file that is no longer in place, by the name that it has now, among the backups of `path`. Takes no space and waits
 * for no disk, as it is only given another name. Throws when it cannot, and the file is where it was.
 */
export function keepBackup(file: string, path: string, now: Date): void {
  if (!prepare(file)) return;
  const folder = join(dirname(path), folderName);
  makeFolder(folder);
  const there = backupsOf(basename(path), folder);
  const name = freeName(`${basename(path)}.`, now, folder);
  renameSync(file, join(folder, name));
  for (const obsolete of inOrder(there, name).slice(0, 1 - backupsPerFile)) {
    remove(join(folder, obsolete));
  }
}

/** Two files may be replaced within a millisecond, or a clock may go back. */
function freeName(start: string, now: Date, folder: string): string {
  for (let at = now.getTime(); ; at++) {
    const name = start + new Date(at).toISOString().replaceAll(/[-:]/g, '');
    if (!lstatSync(join(folder, name), { throwIfNoEntry: false })) return name;
  }
}

/** Oldest first; the newest one says when it is, so those that say later were made by a clock that was wrong. */
function inOrder(names: readonly string[], newest: string): string[] {
  return [...names.filter((name) => name > newest), ...names.filter((name) => name < newest)];
}

/** The backup is made whether or not another one can go, of which the next one takes care. */
function remove(path: string): void {
  try {
    unlinkSync(path);
  } catch {
    // Others have it already, or an administrator has said that nobody may remove it.
  }
}

/** Whether it is a file, and not a link, which may lead anywhere; readable for root alone from now on, as keyfiles must be. */
function prepare(file: string): boolean {
  if (!lstatSync(file).isFile()) return false;
  const descriptor = openSync(file, constants.O_RDONLY | constants.O_NOFOLLOW);
  try {
    const { size, nlink } = fstatSync(descriptor);
    if (size > maxBytes) throw new Error(`${size} bytes are more than the ${maxBytes} of a backup`);
    // Under another name it is somebody else's too.
    if (nlink === 1) fchmodSync(descriptor, 0o600);
    return true;
  } finally {
    closeSync(descriptor);
  }
}

function makeFolder(folder: string): void {
  const there = lstatSync(folder, { throwIfNoEntry: false });
  if (there === undefined) mkdirSync(folder, { mode: 0o700 });
  else if (!there.isDirectory()) throw new Error(`${folderName} is no folder`);
}

/** By the time that they say. */
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
