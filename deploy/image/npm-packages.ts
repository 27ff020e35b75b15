import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Metafile } from 'esbuild';
import type { Component } from './bill-of-materials.ts';

/** A package of npm of which the bundle holds code. */
export interface NpmPackage extends Component {
  readonly folder: string;
  /** Files that say under which terms it may be passed on. */
  readonly licences: readonly string[];
}

/** The packages that went into a bundle. */
export async function bundledPackages(
  root: string,
  { inputs }: Pick<Metafile, 'inputs'>,
): Promise<NpmPackage[]> {
  const folders = Object.keys(inputs).flatMap((path) => folderOf(path) ?? []);
  const distinct = [...new Set(folders)].toSorted();
  return Promise.all(distinct.map((folder) => readPackage(join(root, folder))));
}

/** `node_modules/@scope/name` of the innermost package that a file belongs to. */
function folderOf(path: string): string | undefined {
  return /^(?:.*\/)?node_modules\/(?:@[^/]+\/)?[^/]+/.exec(path)?.[0];
}

interface Manifest {
  readonly name: string;
  readonly version: string;
  readonly license?: string;
}

async function readPackage(folder: string): Promise<NpmPackage> {
  const text = await readFile(join(folder, 'package.json'), 'utf8');
  const { name, version, license } = JSON.parse(text) as Manifest;
  const files = await readdir(folder);
  return {
    name,
    version,
    licence: license,
    purl: `pkg:npm/${name.replace('@', '%40')}@${version}`,
    folder,
    licences: files.filter((file) => /^(licen[cs]e|copying|notice)/i.test(file)).toSorted(),
  };
}
