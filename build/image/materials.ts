import { basename, join } from 'node:path';
import type { Metafile } from 'esbuild';
import type { Build } from '../../src/process/version.ts';
import { bundle } from '../bundler.ts';
import { agentBundle } from './agent-bundle.ts';
import { filesBelow, ipTool, nodeLibraries } from './contents.ts';
import { type Architecture, type DebianPackage, debianPackages } from './debian.ts';
import { type NodeRuntime, nodeRuntime } from './node.ts';
import { bundledPackages, type NpmPackage } from './npm-packages.ts';

const root = join(import.meta.dirname, '../..');

/** All inputs of the images. */
export interface Materials {
  readonly node: NodeRuntime;
  readonly debian: readonly DebianPackage[];
  /** Bundle with all parts. */
  readonly bundle: Bundle;
}

export interface Bundle {
  readonly folder: string;
  readonly metafile: Metafile;
  /** Paths in the folder, from `/`. */
  readonly files: readonly string[];
  readonly npm: readonly NpmPackage[];
}

/** Downloads all inputs for the images of an architecture; `work` is a scratch folder. */
export async function gather(
  architecture: Architecture,
  work: string,
  build: Build,
): Promise<Materials> {
  const names = Object.keys({ ...nodeLibraries, ...ipTool });
  const debian = await debianPackages(architecture, names, join(work, 'debian'));
  const node = await nodeRuntime(architecture, join(work, 'node'));
  const folder = join(work, 'bundle');
  const metafile = await bundle(folder, undefined, build);
  const npm = await bundledPackages(root, metafile);
  const all = { folder, metafile, files: await filesBelow(folder), npm };
  return { node, debian, bundle: all };
}

/** Subset of the bundle that the agent can reach. */
export async function agentOf({ folder, metafile }: Bundle): Promise<Bundle> {
  const reached = agentBundle(metafile);
  const files = Object.keys(reached.outputs).map((path) => `/${basename(path)}`);
  const npm = await bundledPackages(root, reached);
  return { folder, metafile: reached, files: files.toSorted(), npm };
}
