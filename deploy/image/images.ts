import { mkdir } from 'node:fs/promises';
import { basename, join } from 'node:path';
import type { Metafile } from 'esbuild';
import { bundle } from '../bundler.ts';
import { entryPoint } from '../entry-point.ts';
import { commitOf } from '../identity.ts';
import { agentBundle } from './agent-bundle.ts';
import { type ImageConfig, writeImage } from './archive.ts';
import { billOfMaterials, type Component } from './bill-of-materials.ts';
import {
  filesBelow,
  ipTool,
  nodeLibraries,
  putAccounts,
  putFile,
  putPackages,
  putText,
} from './contents.ts';
import { type Architecture, type DebianPackage, debianPackages } from './debian.ts';
import { type Layer, packLayer } from './layer.ts';
import { type NodeRuntime, nodeRuntime } from './node.ts';
import { bundledPackages, type NpmPackage } from './npm-packages.ts';

export type { Architecture } from './debian.ts';
export const architectures: readonly Architecture[] = ['amd64', 'arm64'];

/** That of this machine, as Debian calls it. */
export const ownArchitecture: Architecture = process.arch === 'arm64' ? 'arm64' : 'amd64';

const root = join(import.meta.dirname, '../..');

export interface BuildOptions {
  readonly architecture: Architecture;
  readonly version: string;
  /** Folder of the archives. */
  readonly out: string;
  /** What comes before the name of an image, without a slash at its end. */
  readonly repository: string;
  /** Folder that may be written, and removed afterwards. */
  readonly work: string;
}

export interface BuiltImage {
  readonly name: string;
  readonly file: string;
  readonly id: string;
  readonly digest: string;
  readonly size: number;
}

interface Materials {
  readonly node: NodeRuntime;
  readonly debian: readonly DebianPackage[];
  /** Of all parts. */
  readonly bundle: Bundle;
}

interface Bundle {
  readonly folder: string;
  readonly metafile: Metafile;
  /** Paths in the folder, from `/`. */
  readonly files: readonly string[];
  readonly npm: readonly NpmPackage[];
}

/** What is in an image beside Node.js. */
interface Contents {
  readonly bundle: Bundle;
  readonly debian: readonly DebianPackage[];
}

/** Builds both images of an architecture. */
export async function buildImages(options: BuildOptions): Promise<BuiltImage[]> {
  const { architecture, version, repository, out } = options;
  const work = join(options.work, architecture);
  const materials = await gather(architecture, work);
  const base = await layerOf(join(work, 'base'), (folder) => putBase(folder, materials));
  const tools = await layerOf(join(work, 'tools'), (folder) =>
    putPackages(folder, materials.debian, ipTool),
  );
  const commit = await commitOf(root);
  const build = async (
    short: string,
    contents: Contents,
    layers: readonly Layer[],
    more: Partial<ImageConfig> = {},
  ): Promise<BuiltImage> => {
    const components = [
      { name: 'multinic', version, licence: 'Apache-2.0', purl: `pkg:generic/multinic@${version}` },
      ...componentsOf(contents, materials.node, architecture),
    ];
    const app = await layerOf(join(work, short), (folder) =>
      putApp(folder, contents.bundle, billOfMaterials(short, version, components)),
    );
    const name = `${repository}/${short}:${version}`;
    const file = join(out, `${short}-${version}-linux-${architecture}.tar`);
    const config = { ...configOf(version, commit), ...more };
    const image = { name, architecture, layers: [...layers, app], config };
    return { name, file, ...(await writeImage(file, image, join(work, 'layout'))) };
  };
  const { debian, bundle: whole } = materials;
  const libraries = debian.filter(({ name }) => name in nodeLibraries);
  const agent = { bundle: await agentOf(whole), debian };
  return [
    await build('multinic-controllers', { bundle: whole, debian: libraries }, [base]),
    await build('multinic-agent', agent, [base, tools], {
      User: '0:0',
      Entrypoint: entryPoint('agent').command,
    }),
  ];
}

async function gather(architecture: Architecture, work: string): Promise<Materials> {
  const names = Object.keys({ ...nodeLibraries, ...ipTool });
  const debian = await debianPackages(architecture, names, join(work, 'debian'));
  const node = await nodeRuntime(architecture, join(work, 'node'));
  const folder = join(work, 'bundle');
  const metafile = await bundle(folder);
  const npm = await bundledPackages(root, metafile);
  const all = { folder, metafile, files: await filesBelow(folder), npm };
  return { node, debian, bundle: all };
}

async function agentOf({ folder, metafile }: Bundle): Promise<Bundle> {
  const reached = agentBundle(metafile);
  const files = Object.keys(reached.outputs).map((path) => `/${basename(path)}`);
  const npm = await bundledPackages(root, reached);
  return { folder, metafile: reached, files: files.toSorted(), npm };
}

async function layerOf(folder: string, put: (folder: string) => Promise<void>): Promise<Layer> {
  await mkdir(folder, { recursive: true });
  await put(folder);
  return packLayer(folder, `${folder}.tar`);
}

async function putBase(folder: string, { node, debian }: Materials): Promise<void> {
  await putAccounts(folder);
  await putPackages(folder, debian, nodeLibraries);
  await putFile(folder, '/usr/local/bin/node', join(node.folder, 'bin/node'));
  await putFile(folder, '/usr/share/licenses/node/LICENSE', join(node.folder, 'LICENSE'));
}

async function putApp(folder: string, bundled: Bundle, sbom: string): Promise<void> {
  for (const path of bundled.files) {
    await putFile(folder, `/app${path}`, join(bundled.folder, path));
  }
  const licences = '/usr/share/licenses';
  await putFile(folder, `${licences}/multinic/LICENSE`, join(root, 'LICENSE'));
  for (const { name, folder: from, licences: files } of bundled.npm) {
    for (const file of files)
      await putFile(folder, `${licences}/${name}/${file}`, join(from, file));
  }
  await putText(folder, '/usr/share/sbom/multinic.spdx.json', sbom);
}

function componentsOf(
  { bundle: { npm }, debian }: Contents,
  node: NodeRuntime,
  architecture: Architecture,
): Component[] {
  const where = `arch=${architecture}&distro=bookworm`;
  return [
    { name: 'node', version: node.version, purl: `pkg:generic/node@${node.version}` },
    ...npm,
    ...debian.map(({ name, version }) => ({
      name,
      version,
      purl: `pkg:deb/debian/${encodeURIComponent(name)}@${encodeURIComponent(version)}?${where}`,
    })),
  ];
}

/** The controllers' image starts no part by itself: which one, and with which limits, says the Pod. */
function configOf(version: string, revision: string): ImageConfig {
  const { env, command } = entryPoint('agent');
  const [node] = command;
  const path = 'PATH=/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin';
  return {
    User: '65532:65532',
    Entrypoint: [node, '/app/main.mjs'],
    Env: [path, ...Object.entries(env).map(([key, value]) => `${key}=${value}`)],
    WorkingDir: '/',
    Labels: {
      'org.opencontainers.image.version': version,
      'org.opencontainers.image.revision': revision,
      'org.opencontainers.image.licenses': 'Apache-2.0',
    },
  };
}
