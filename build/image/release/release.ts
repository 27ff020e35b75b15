import { createHash } from 'node:crypto';
import { createReadStream, existsSync } from 'node:fs';
import { chmod, copyFile, cp, mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { filesBelow } from '../contents.ts';
import { putWhole } from '../workplace.ts';
import { type DigestedImage, fillChart, packChart } from './chart-package.ts';
import { type CommandFolder, copyCheckout, writeCommandArchive } from './command-archive.ts';
import { krewManifest, type PluginArchive } from './krew-manifest.ts';
import { releaseNotes } from './release-notes.ts';
import { packTarball } from './tarball.ts';

/** An image of a release. */
export interface ReleasedImage extends DigestedImage {
  /** Path of the image archive. */
  readonly file: string;
  /** SPDX document with the image's contents. */
  readonly sbom: string;
}

export interface ReleaseOptions {
  /** The checkout whose charts, CRDs, scripts and docs are released. */
  readonly root: string;
  readonly version: string;
  readonly images: readonly ReleasedImage[];
  readonly commands: readonly CommandFolder[];
  /** Address at which the files will be published; undefined: not known, krew installs from files only. */
  readonly url?: string | undefined;
  /** Scratch folder. */
  readonly work: string;
}

const [notes, sums] = ['RELEASE-NOTES.md', 'SHA256SUMS'];

/**
 * Writes a release into the folder `out`: images, charts, CRDs, samples, health checks, the command line, SPDX documents and
 * checksums. An earlier release in `out` is replaced; any other content is refused.
 */
export async function writeRelease(out: string, options: ReleaseOptions): Promise<void> {
  await refuseOther(out);
  await mkdir(dirname(out), { recursive: true });
  await putWhole(out, async (folder) => {
    await fill(folder, options);
    await writeFile(join(folder, sums), await checksumsOf(folder));
    await rm(out, { recursive: true, force: true });
  });
}

/** Writes a release as a single file in the folder `out`, `multinic-release-VERSION.tar.gz`. Resolves to the path. */
export async function writeReleaseArchive(out: string, options: ReleaseOptions): Promise<string> {
  const name = `multinic-release-${options.version}`;
  const folder = join(options.work, name);
  await writeRelease(folder, options);
  const file = join(out, `${name}.tar.gz`);
  await mkdir(out, { recursive: true });
  // The contents are already compressed.
  await packTarball(file, options.work, [name], 1);
  return file;
}

async function refuseOther(out: string): Promise<void> {
  const found = existsSync(out) ? await readdir(out) : [];
  if (found.length === 0 || (found.includes(notes) && found.includes(sums))) return;
  throw new Error(`--out "${out}" holds files that are no release; give a folder that is empty`);
}

async function fill(folder: string, options: ReleaseOptions): Promise<void> {
  const { root, version, images, commands, work, url } = options;
  for (const part of ['images', 'charts', 'krew', 'sbom']) {
    await mkdir(join(folder, part), { recursive: true });
  }
  for (const { file, sbom } of images) {
    await copyFile(file, join(folder, 'images', basename(file)));
    await putSbom(folder, basename(file, '.tar'), sbom);
  }
  const tree = join(work, `multinic-${version}`);
  await copyCheckout(root, tree);
  await putCharts(folder, join(tree, 'charts'), options);
  await writeFile(join(folder, 'VERSION'), `${version}\n`);
  await writeFile(join(folder, 'digests.txt'), digestsOf(images));
  const archives: PluginArchive[] = [];
  for (const command of commands) {
    const file = await writeCommandArchive(command, { tree, out: folder });
    await putSbom(folder, basename(file, '.tar.gz'), command.sbom);
    const sha256 = await sha256Of(join(folder, file));
    archives.push({ platform: command.platform, file, sha256 });
  }
  const manifest = krewManifest({ version, archives, url });
  await writeFile(join(folder, 'krew/multinic.yaml'), manifest);
  for (const part of ['argocd', 'crds', 'samples']) {
    const from = join(tree, 'deploy', part);
    if (existsSync(from)) await cp(from, join(folder, part), { recursive: true });
  }
  const changelog = await readFile(join(tree, 'CHANGELOG.md'), 'utf8');
  await writeFile(join(folder, notes), releaseNotes(changelog, version));
  await copyFile(join(tree, 'LICENSE'), join(folder, 'LICENSE'));
  const script = join(folder, 'load-images.sh');
  await copyFile(join(import.meta.dirname, 'load-images.sh'), script);
  await chmod(script, 0o755);
}

/** Fills the charts of `charts`, which the archives of the command line contain, and packs them. */
async function putCharts(
  folder: string,
  charts: string,
  { version, images }: ReleaseOptions,
): Promise<void> {
  for (const chart of await readdir(charts)) {
    await fillChart(join(charts, chart), version, images);
    await packChart(charts, chart, { version, out: join(folder, 'charts') });
  }
}

/** Returns a line for each image: digest, platform, name. */
function digestsOf(images: readonly DigestedImage[]): string {
  return images
    .map(({ name, architecture, digest }) => `${digest}  linux/${architecture}  ${name}\n`)
    .join('');
}

async function putSbom(folder: string, name: string, text: string): Promise<void> {
  await writeFile(join(folder, 'sbom', `${name}.spdx.json`), text);
}

/** Returns lines in the format of `sha256sum`. */
async function checksumsOf(folder: string): Promise<string> {
  const lines: string[] = [];
  for (const path of await filesBelow(folder)) {
    lines.push(`${await sha256Of(join(folder, path))}  ${path.slice(1)}\n`);
  }
  return lines.join('');
}

async function sha256Of(path: string): Promise<string> {
  const hash = createHash('sha256');
  await pipeline(createReadStream(path), hash);
  return hash.digest('hex');
}
