import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { CutGuest } from '../../../../rig/hosts/guest/guest.ts';
import { placesIn } from '../../../../rig/hosts/guest/machine.ts';
import { type Files, filesBelow } from '../../../property/disk-faults/pictures.ts';

const run = promisify(execFile);
const agentFolder = 'var/lib/multinic';

/** Disk at the next boot. */
export interface DiskContent {
  /** Digest over all files that network managers and the agent read: equal digests boot equally. */
  readonly digest: string;
  /** Our files, without state.json's content, which includes the boot id. */
  readonly files: Files;
}

/** Mounts a copy, by which the file system's own journal is replayed as at the boot. */
export async function contentOf({ folder }: CutGuest): Promise<DiskContent> {
  const work = await mkdtemp(join(tmpdir(), 'multinic-disk-'));
  const [raw, root] = [join(work, 'raw'), join(work, 'root')];
  try {
    await mkdir(root);
    await run('qemu-img', ['convert', '-O', 'raw', placesIn(folder).disk, raw]);
    await run('mount', ['-o', 'loop', raw, root]);
    try {
      return { digest: await digestOf(root), files: filesOf(root) };
    } finally {
      await run('umount', [root]);
    }
  } finally {
    await rm(work, { recursive: true, force: true });
  }
}

/** With modes and owners; without backups and reports, which have a time in their names or texts. */
async function digestOf(root: string): Promise<string> {
  const folders = ['etc', agentFolder].filter((folder) => existsSync(join(root, folder)));
  const archive =
    'set -o pipefail; tar -C "$1" --sort=name --mtime=@0 --numeric-owner --exclude=backup --exclude="last*.txt*" -c "${@:2}" | sha256sum';
  const { stdout } = await run('bash', ['-c', archive, 'digest', root, ...folders]);
  return stdout.slice(0, 64);
}

function filesOf(root: string): Files {
  const config = Object.entries(filesBelow(root, 'etc'));
  const own = existsSync(join(root, agentFolder)) ? filesBelow(root, agentFolder) : {};
  return Object.fromEntries([
    ...config.filter(([path]) => path.includes('multinic')),
    ...Object.entries(own).filter(([path]) => !/\/state\.json(\.old)?$/.test(path)),
  ]);
}
