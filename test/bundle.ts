// Run once by vitest before the tests on processes: they run what is shipped.
import { copyFile, mkdir, mkdtemp, readdir, readFile, rename, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { bundle } from '../build/bundler.ts';
import { committedBuild } from '../build/identity.ts';
import { buildAgentSnapshot } from '../build/image/agent-snapshot/snapshot.ts';
import { bundleFolder, snapshotIn } from '../rig/parts/program.ts';

/**
 * Writes the bundle with the version of the committed charts, so that equal sources give equal files at each commit. Files with the same
 * text stay where they are: parts that another run has started continue to read them.
 */
export async function setup(): Promise<void> {
  const work = await mkdtemp(join(tmpdir(), 'multinic-bundle-'));
  const made = join(work, 'dist');
  try {
    await bundle(made, undefined, committedBuild);
    if (await hasAll(bundleFolder, made)) return;
    const place = join(work, 'snapshot');
    await mkdir(place);
    const snapshot = buildAgentSnapshot(process.execPath, snapshotIn(made), place, committedBuild);
    await snapshot.catch(noSnapshot);
    await replaceFiles(bundleFolder, made);
  } finally {
    await rm(work, { recursive: true });
  }
}

/** Replaces files one by one, the main module last: two runs that begin at the same time write equal files. */
async function replaceFiles(folder: string, made: string): Promise<void> {
  const entries = await readdir(made, { recursive: true, withFileTypes: true });
  const files = entries.filter((entry) => entry.isFile());
  const paths = files.map(({ parentPath, name }) => join(parentPath, name).slice(made.length));
  for (const path of paths.toSorted(
    (a, b) => Number(a === mainModule) - Number(b === mainModule),
  )) {
    const place = join(folder, path);
    await mkdir(dirname(place), { recursive: true });
    await copyFile(join(made, path), `${place}.${process.pid}`);
    await rename(`${place}.${process.pid}`, place);
  }
  const former = (await readdir(folder)).filter((name) => /\.(mjs|blob|txt)$/.test(name));
  for (const name of former.filter((each) => !paths.includes(`/${each}`))) {
    await rm(join(folder, name), { force: true });
  }
}

const mainModule = '/main.mjs';

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
