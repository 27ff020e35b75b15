import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Metafile } from 'esbuild';
import type { Component } from './bill-of-materials.ts';

/** npm package with code in the bundle. */
export interface NpmPackage extends Component {
  readonly folder: string;
  /** License files of the package. */
  readonly licences: readonly string[];
}

/** The packages in a bundle. */
export async function bundledPackages(
  root: string,
  { inputs }: Pick<Metafile, 'inputs'>,
): Promise<NpmPackage[]> {
  const folders = Object.keys(inputs).flatMap((path) => folderOf(path) ?? []);
  const distinct = [...new Set(folders)].toSorted();
  const packages = await Promise.all(distinct.map((folder) => readPackage(join(root, folder))));
  const servesDocs = packages.find(({ name }) => name === '@fastify/swagger-ui');
  return servesDocs ? [...packages, await swaggerUiIn(servesDocs.folder, root)] : packages;
}

/** The docs pages are a second package, copied into the serving package, under our license. */
async function swaggerUiIn(folder: string, root: string): Promise<NpmPackage> {
  const text = await readFile(join(folder, 'static/swagger-ui-bundle.js'), 'utf8');
  const version = /PACKAGE_VERSION:"(\d+\.\d+\.\d+[^"]*)"/.exec(text)?.[1];
  if (version === undefined) throw new Error(`${folder} does not say which Swagger UI it holds`);
  const [name, licence] = ['swagger-ui-dist', 'Apache-2.0'];
  return {
    name,
    version,
    licence,
    purl: purlOf(name, version),
    folder: root,
    licences: ['LICENSE'],
  };
}

function purlOf(name: string, version: string): string {
  return `pkg:npm/${name.replace('@', '%40')}@${version}`;
}

/** `node_modules/@scope/name` of the innermost package around a file. */
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
    purl: purlOf(name, version),
    folder,
    licences: files.filter((file) => /^(licen[cs]e|copying|notice)/i.test(file)).toSorted(),
  };
}
