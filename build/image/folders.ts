import { chmod, mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Build } from '../../src/process/version.ts';
import { type EntryPoint, entryPoint, inImage } from '../entry-point.ts';
import { buildAgentSnapshot } from './agent-snapshot/snapshot.ts';
import type { ImageConfig } from './archive.ts';
import { billOfMaterials, type Component } from './bill-of-materials.ts';
import { ipTool, nodeLibraries, putAccounts, putFile, putPackages, putText } from './contents.ts';
import type { Architecture, DebianPackage } from './debian.ts';
import { agentOf, type Bundle, gather, type Materials } from './materials.ts';
import type { NodeRuntime } from './node.ts';
import { withoutSymbols } from './symbols.ts';

const root = join(import.meta.dirname, '../..');

/** Image contents before packing. */
export interface LaidOut {
  readonly name: 'multinic-controllers' | 'multinic-agent';
  /** A folder for each layer, the lowest first; images share some. */
  readonly folders: readonly string[];
  /** The folder in `folders` with the bundle, licenses and the SPDX document. */
  readonly app: string;
  readonly config: ImageConfig;
}

export interface LayOutOptions {
  readonly architecture: Architecture;
  readonly build: Build;
  /** Scratch folder; the layers are subfolders `base`, `tools` and a folder per image. */
  readonly work: string;
}

/** Contents of an image beside Node.js. */
interface Contents {
  readonly bundle: Bundle;
  readonly debian: readonly DebianPackage[];
}

/** Copies the files for both images of an architecture to the layer folders. */
export async function layOut({ architecture, build, work }: LayOutOptions): Promise<LaidOut[]> {
  const { version, commit } = build;
  const materials = await gather(architecture, work, build);
  const { node, debian, bundle: whole } = materials;
  const base = await folderOf(join(work, 'base'), (folder) => putBase(folder, materials));
  const tools = await folderOf(join(work, 'tools'), (folder) =>
    putPackages(folder, debian, ipTool),
  );
  const app = async (name: LaidOut['name'], contents: Contents) => {
    const components = [
      { name: 'multinic', version, licence: 'Apache-2.0', purl: `pkg:generic/multinic@${version}` },
      ...componentsOf(contents, node, architecture),
    ];
    const sbom = billOfMaterials(name, version, components);
    return folderOf(join(work, name), (folder) => putApp(folder, contents.bundle, sbom));
  };
  const libraries = debian.filter(({ name }) => name in nodeLibraries);
  const controllers = await app('multinic-controllers', { bundle: whole, debian: libraries });
  const agent = await app('multinic-agent', { bundle: await agentOf(whole), debian });
  const config = configOf(version, commit);
  const snapshot = await snapshotOf({ architecture, base, work, build });
  const ofAgent = { ...config, User: '0:0', Entrypoint: agentEntry(architecture) };
  return [
    { name: 'multinic-controllers', folders: [base, controllers], app: controllers, config },
    {
      name: 'multinic-agent',
      folders: [base, tools, agent, ...snapshot],
      app: agent,
      config: ofAgent,
    },
  ];
}

/** Path of the SPDX document in an image. */
export const sbomPath = '/usr/share/sbom/multinic.spdx.json';

/** Where the agent's startup snapshot is in an image. */
const snapshotPath = '/app/agent.blob';

/**
 * Architectures with an agent that starts from a snapshot, which saves 40 % CPU time. Only the image's own Node.js can create the snapshot,
 * so the build machine must be able to run this Node.js.
 */
const snapshotArchitectures: readonly Architecture[] = ['amd64'];

/** Command of the agent's image; Dockerfile.agent has a stage per architecture for this command. */
export function agentEntry(architecture: Architecture): EntryPoint['command'] {
  const hasSnapshot = snapshotArchitectures.includes(architecture);
  return entryPoint('agent', hasSnapshot ? { ...inImage, snapshot: snapshotPath } : inImage)
    .command;
}

/** A separate layer for the snapshot: two snapshot builds differ in some bytes, and all further layers stay reproducible. */
async function snapshotOf({
  architecture,
  base,
  work,
  build,
}: LayOutOptions & { readonly base: string }): Promise<readonly string[]> {
  if (!snapshotArchitectures.includes(architecture)) return [];
  const place = join(work, 'agent-snapshot');
  return [
    await folderOf(join(work, 'snapshot'), async (folder) => {
      const blob = join(folder, snapshotPath);
      await buildAgentSnapshot(join(base, inImage.node), blob, place, build);
      await chmod(blob, 0o644);
    }),
  ];
}

/** Empties the folder first. */
async function folderOf(folder: string, put: (folder: string) => Promise<void>): Promise<string> {
  await rm(folder, { recursive: true, force: true });
  await mkdir(folder, { recursive: true });
  await put(folder);
  return folder;
}

async function putBase(folder: string, { node, debian }: Materials): Promise<void> {
  await putAccounts(folder);
  await putPackages(folder, debian, nodeLibraries);
  await putNode(folder, join(node.folder, 'bin/node'));
  await putFile(folder, '/usr/share/licenses/node/LICENSE', join(node.folder, 'LICENSE'));
}

/** Debug symbols take 18 MB in the file, and 4 of 50 MB in the download. */
async function putNode(folder: string, source: string): Promise<void> {
  const path = '/usr/local/bin/node';
  await putFile(folder, path, source);
  await writeFile(join(folder, path), withoutSymbols(await readFile(source)));
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
  await putText(folder, sbomPath, sbom);
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

/** The controllers' image has no command: the Pod names part and heap limits. */
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
