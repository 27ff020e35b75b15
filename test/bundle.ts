// Run once by vitest before the tests on processes: they run what is shipped.
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { bundle } from '../build/bundler.ts';
import { buildAgentSnapshot } from '../build/image/agent-snapshot/snapshot.ts';
import { bundleFolder, snapshotIn } from '../rig/parts/program.ts';

/** Parts that another run has started go on reading their files: those of the same text stay where they are. */
export async function setup(): Promise<void> {
  const made = await mkdtemp(join(tmpdir(), 'multinic-bundle-'));
  try {
    await bundle(made);
    if (await hasAll(bundleFolder, made)) return;
    await bundle(bundleFolder);
    await buildAgentSnapshot(process.execPath, snapshotIn(bundleFolder), made).catch(noSnapshot);
  } finally {
    await rm(made, { recursive: true });
  }
}

/** Images of other architectures have no snapshot either: the bundle is tested instead. */
function noSnapshot(error: Error): void {
  console.warn(error.message);
}

async function hasAll(folder: string, wanted: string): Promise<boolean> {
  const entries = await readdir(wanted, { recursive: true, withFileTypes: true });
  const files = entries.filter((entry) => entry.isFile());
  const same = files.map(async ({ parentPath, name }) => {
    const path = join(parentPath, name);
    const text = await readFile(join(folder, path.slice(wanted.length))).catch(absent);
    return text?.equals(await readFile(path)) ?? false;
  });
  return (await Promise.all(same)).every(Boolean);
}

/** A folder in which a file is not there, or that is none. */
function absent(error: NodeJS.ErrnoException): undefined {
  if (error.code !== 'ENOENT' && error.code !== 'ENOTDIR') throw error;
}
