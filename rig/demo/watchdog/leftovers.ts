import { readdirSync, readFileSync, statSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { existingHost } from '../../hosts/namespace/host.ts';

export interface Demo {
  /** Folder of all its files: `TMPDIR` of its processes. */
  readonly directory: string;
  /** Process id, the suffix of its namespaces' names. */
  readonly pid: number;
}

const namespaces = '/run/netns';
const pauseMs = 50;
/** Rounds without a process of the demo before its namespaces are removed: a Pod enters its namespace after its start. */
const quietRounds = 2;
const mostRounds = 200;

/** Kills the processes of a demo that has ended, then removes its namespaces and its folder. */
export async function removeLeftovers(demo: Demo): Promise<void> {
  for (let quiet = 0, round = 0; quiet < quietRounds && round < mostRounds; round++) {
    const pids = processesOf(demo);
    quiet = pids.length === 0 ? quiet + 1 : 0;
    for (const pid of pids) kill(pid);
    await sleep(pauseMs);
  }
  try {
    for (const name of hostNamesOf(demo)) await existingHost(name).down();
  } finally {
    await rm(demo.directory, { recursive: true, force: true, maxRetries: 5 });
  }
}

function namespaceNames({ pid }: Demo): string[] {
  const suffix = `-${pid}`;
  return entriesOf(namespaces).filter(
    (name) => /^multinic-(host|fabric)-/.test(name) && name.endsWith(suffix),
  );
}

/** Hosts whose namespace, or only the one behind their NICs, exists. */
function hostNamesOf(demo: Demo): string[] {
  const names = namespaceNames(demo).map((name) => name.replace(/^multinic-(host|fabric)-/, ''));
  return [...new Set(names)];
}

/** Processes with the demo's `TMPDIR`, and Pods of the kubelet: their environment is empty, their namespace is not. */
function processesOf(demo: Demo): number[] {
  const inodes = namespaceNames(demo).map((name) => inodeOf(join(namespaces, name)));
  const inNamespaces = new Set(inodes.filter((inode) => inode !== undefined));
  const marker = `TMPDIR=${demo.directory}`;
  return entriesOf('/proc')
    .filter((name) => /^\d+$/.test(name) && Number(name) !== process.pid)
    .filter((pid) => {
      const inode = inodeOf(`/proc/${pid}/ns/net`);
      return (
        (inode !== undefined && inNamespaces.has(inode)) || environmentOf(pid).includes(marker)
      );
    })
    .map(Number);
}

function environmentOf(pid: string): string[] {
  return ifPresent(() => readFileSync(`/proc/${pid}/environ`, 'utf8').split('\0')) ?? [];
}

function inodeOf(path: string): number | undefined {
  return ifPresent(() => statSync(path).ino);
}

function entriesOf(path: string): string[] {
  return ifPresent(() => readdirSync(path)) ?? [];
}

function kill(pid: number): void {
  ifPresent(() => process.kill(pid, 'SIGKILL'));
}

/** A process or file that is gone, or a process that a sandbox hides from root. */
const absent: readonly unknown[] = ['ENOENT', 'ESRCH', 'EACCES', 'EPERM'];

/** Returns undefined for an absent process or file. */
function ifPresent<T>(read: () => T): T | undefined {
  try {
    return read();
  } catch (error) {
    if (absent.includes((error as NodeJS.ErrnoException).code)) return undefined;
    throw error;
  }
}
