import { existsSync } from 'node:fs';
import { cp, mkdir, rm } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { run } from '../command.ts';
import type { Architecture } from '../debian.ts';
import { packTarball } from './tarball.ts';

/** The command line for one architecture, before it is packed. */
export interface CommandFolder {
  readonly architecture: Architecture;
  /** Holds `lib/multinic`: Node.js, the bundle and licences. */
  readonly folder: string;
  /** SPDX document of what `folder` holds. */
  readonly sbom: string;
}

/** Paths of the checkout: scripts find each other and their charts there, and pages the files that they link to. */
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
  'deploy/crds',
  'deploy/rbac',
  'deploy/samples',
  'docs',
  'scripts',
];

/** Copies what a release holds of the checkout `root` into the folder `tree`, which it makes anew. */
export async function copyCheckout(root: string, tree: string): Promise<void> {
  await rm(tree, { recursive: true, force: true });
  for (const path of await pathsIn(root)) {
    await mkdir(dirname(join(tree, path)), { recursive: true });
    await cp(join(root, path), join(tree, path), { recursive: true });
  }
}

/**
 * Writes `NAME-linux-ARCHITECTURE.tar.gz` into the folder `out`: the command line with its Node.js in the folder `tree`, which
 * `copyCheckout` has made and whose name is NAME. Resolves to the name of the file.
 */
export async function writeCommandArchive(
  { architecture, folder }: CommandFolder,
  { tree, out }: { readonly tree: string; readonly out: string },
): Promise<string> {
  await rm(join(tree, 'lib'), { recursive: true, force: true });
  await cp(folder, tree, { recursive: true });
  const file = `${basename(tree)}-linux-${architecture}.tar.gz`;
  await packTarball(join(out, file), dirname(tree), [basename(tree)]);
  return file;
}

/** Only what git tracks of a checkout: users keep values of their own beside it, with secrets in them. */
async function pathsIn(root: string): Promise<readonly string[]> {
  const there = asInCheckout.filter((path) => existsSync(join(root, path)));
  if (!existsSync(join(root, '.git'))) return there;
  const listed = await run(['git', '-C', root, 'ls-files', '-z', '--', ...there]);
  return listed.split('\0').filter((path) => path !== '');
}
