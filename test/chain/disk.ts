import { cp, mkdir, mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { vi } from 'vitest';
import { run } from '../../rig/hosts/namespace/command.ts';
import { generous } from './waits.ts';

/** A directory of a host on a disk without room, with the files that it had; until it is disposed. */
export interface FullDisk extends AsyncDisposable {
  /** Makes room; may be called twice. */
  free(): Promise<void>;
}

/** Puts a small file system with the same files over the directory and fills it up. */
export async function fillDisk(directory: string): Promise<FullDisk> {
  const copy = await mkdtemp(join(tmpdir(), 'multinic-disk-'));
  await mkdir(directory, { recursive: true });
  await copyFiles(directory, copy);
  await must('mount', '-t', 'tmpfs', '-o', 'size=128k', 'tmpfs', directory);
  const ballast = join(directory, 'ballast');
  const free = (): Promise<void> => rm(ballast, { force: true });
  // What was written meanwhile stays when the file system is taken away.
  const restore = async (): Promise<void> => {
    await free();
    await copyFiles(directory, copy);
    // An agent that is just at work keeps it busy.
    await vi.waitFor(() => must('umount', directory), generous);
    await copyFiles(copy, directory);
    await rm(copy, { recursive: true });
  };
  try {
    await copyFiles(copy, directory);
    const { code } = await run('dd', ['if=/dev/zero', `of=${ballast}`, 'bs=4k']);
    if (code === 0) throw new Error(`${directory} did not fill up`);
  } catch (error) {
    await restore();
    throw error;
  }
  return { free, [Symbol.asyncDispose]: restore };
}

/** Makes the files of a directory those of another one. */
async function copyFiles(from: string, to: string): Promise<void> {
  for (const name of await readdir(to)) await rm(join(to, name), { recursive: true });
  await cp(from, to, { recursive: true, preserveTimestamps: true });
}

async function must(command: string, ...args: readonly string[]): Promise<void> {
  const { code, stderr } = await run(command, args);
  if (code !== 0) throw new Error(`${command} ${args.join(' ')}: ${stderr}`);
}
