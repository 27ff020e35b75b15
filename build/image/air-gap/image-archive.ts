import { createHash } from 'node:crypto';
import { createReadStream, existsSync } from 'node:fs';
import { chmod, copyFile, cp, mkdir, readdir, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { run } from '../command.ts';
import { filesBelow } from '../contents.ts';
import { packChart } from './chart-package.ts';
import { packTarball } from './tarball.ts';

export interface ArchiveOptions {
  /** The repository: its charts, CRDs, scripts and docs go along. */
  readonly root: string;
  readonly version: string;
  /** Archives of images. */
  readonly images: readonly string[];
  /** Folder of the archive. */
  readonly out: string;
  /** Folder that may be written, and removed afterwards. */
  readonly work: string;
}

/** In the places that they have in the repository, so that scripts find each other and their charts, and pages what they link to. */
const asInRepository = [
  'CHANGELOG.md',
  'LICENSE',
  'README.md',
  'charts',
  'cleanup-operator.sh',
  'deploy-operator.sh',
  'deploy/crds',
  'deploy/rbac',
  'docs',
  'scripts',
];

/**
 * Writes one file with everything that a site without network needs: images, charts, CRDs, docs, checksums, the scripts that
 * install and remove, and one that loads the images on a node. Answers its path.
 */
export async function writeImageArchive(options: ArchiveOptions): Promise<string> {
  const { root, version, images, out, work } = options;
  const name = `multinic-${version}`;
  const folder = join(work, name);
  await rm(folder, { recursive: true, force: true });
  for (const part of ['images', 'charts']) await mkdir(join(folder, part), { recursive: true });
  for (const image of images) {
    await copyFile(image, join(folder, 'images', image.slice(image.lastIndexOf('/') + 1)));
  }
  for (const path of await pathsIn(root)) {
    await mkdir(dirname(join(folder, path)), { recursive: true });
    await cp(join(root, path), join(folder, path), { recursive: true });
  }
  // For a chart repository inside, beside the folders, which helm and the scripts take.
  const charts = join(folder, 'charts');
  for (const chart of await readdir(charts)) await packChart(charts, chart, charts);
  const script = join(folder, 'load-images.sh');
  await copyFile(join(import.meta.dirname, 'load-images.sh'), script);
  await chmod(script, 0o755);
  await writeFile(join(folder, 'SHA256SUMS'), await checksumsOf(folder));
  await mkdir(out, { recursive: true });
  const file = join(out, `${name}.tar.gz`);
  // Nearly all of it is compressed already.
  await packTarball(file, work, [name], 1);
  return file;
}

/** Of a checkout only what git tracks: people keep values of their own beside it, and secrets in them. */
async function pathsIn(root: string): Promise<readonly string[]> {
  if (!existsSync(join(root, '.git'))) return asInRepository;
  const listed = await run(['git', '-C', root, 'ls-files', '-z', '--', ...asInRepository]);
  return listed.split('\0').filter((path) => path !== '');
}

/** As `sha256sum` writes and checks them. */
async function checksumsOf(folder: string): Promise<string> {
  const lines: string[] = [];
  for (const path of await filesBelow(folder)) {
    const hash = createHash('sha256');
    await pipeline(createReadStream(join(folder, path)), hash);
    lines.push(`${hash.digest('hex')}  ${path.slice(1)}\n`);
  }
  return lines.join('');
}
