import { existsSync } from 'node:fs';
import { cp, mkdir, rm } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { run } from '../command.ts';
import type { Architecture } from '../debian.ts';
import { packTarball } from './tarball.ts';

/** Platform of an archive; `any`: every machine with a POSIX shell and the user's own Node.js. */
export type Platform = `linux-${Architecture}` | 'any';

/** Command line for a platform, before packing. */
export interface CommandFolder {
  readonly platform: Platform;
  /** Holds `lib/multinic`: Node.js (except for `any`), the bundle and licences. */
  readonly folder: string;
  /** SPDX document for `folder`. */
  readonly sbom: string;
}

/** Paths in the checkout: scripts refer to scripts and charts, and pages link to files. */
const asInCheckout = [
  'CHANGELOG.md',
  'CONTRIBUTING.md',
  'LICENSE',
  'README.md',
  'README.ko.md',
  'SECURITY.md',
  'bin',
  'charts',
  'cleanup-operator.sh',
  'deploy-operator.sh',
  'deploy/argocd',
  'deploy/crds',
  'deploy/rbac',
  'deploy/samples',
  'docs',
  'scripts',
];

/** Copies the released files from the checkout `root` into a new folder `tree`. */
export async function copyCheckout(root: string, tree: string): Promise<void> {
  await rm(tree, { recursive: true, force: true });
  for (const path of await pathsIn(root)) {
    await mkdir(dirname(join(tree, path)), { recursive: true });
    await cp(join(root, path), join(tree, path), { recursive: true });
  }
}

/** Checkout files in the archive for any platform; the archives for Linux have all. */
const inPortable = ['LICENSE', 'bin'];

/**
 * Writes `NAME-PLATFORM.tar.gz` into the folder `out` and resolves to the file name. NAME is the name of the folder `tree` from
 * `copyCheckout`. The archive contains `tree` with the command line; for `any` only the files that the command line needs.
 */
export async function writeCommandArchive(
  { platform, folder }: CommandFolder,
  { tree, out }: { readonly tree: string; readonly out: string },
): Promise<string> {
  await rm(join(tree, 'lib'), { recursive: true, force: true });
  const packed = platform === 'any' ? await portableTree(tree) : tree;
  await cp(folder, packed, { recursive: true });
  const file = `${basename(tree)}-${platform}.tar.gz`;
  await packTarball(join(out, file), dirname(packed), [basename(packed)]);
  return file;
}

/** Copies the files for any platform to a folder with the same name as `tree`. Resolves to the path. */
async function portableTree(tree: string): Promise<string> {
  const portable = join(`${tree}-any`, basename(tree));
  await rm(portable, { recursive: true, force: true });
  for (const path of inPortable) {
    await cp(join(tree, path), join(portable, path), { recursive: true });
  }
  await cp(join(import.meta.dirname, 'portable-readme.md'), join(portable, 'README.md'));
  return portable;
}

/** Only files that git tracks: users keep values with secrets in the checkout. */
async function pathsIn(root: string): Promise<readonly string[]> {
  const there = asInCheckout.filter((path) => existsSync(join(root, path)));
  if (!existsSync(join(root, '.git'))) return there;
  const listed = await run(['git', '-C', root, 'ls-files', '-z', '--', ...there]);
  return listed.split('\0').filter((path) => path !== '');
}
