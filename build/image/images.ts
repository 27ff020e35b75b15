import { join } from 'node:path';
import { writeImage } from './archive.ts';
import type { Architecture } from './debian.ts';
import { type LayOutOptions, layOut } from './folders.ts';
import { type Layer, packLayer } from './layer.ts';

export type { Architecture } from './debian.ts';
export const architectures: readonly Architecture[] = ['amd64', 'arm64'];

/** Architecture of this machine, in Debian's notation. */
export const ownArchitecture: Architecture = process.arch === 'arm64' ? 'arm64' : 'amd64';

/** Reads a list such as `amd64,arm64`. */
export function architecturesIn(text: string): Architecture[] {
  return [...new Set(text.split(','))].map((word) => {
    const known = architectures.find((architecture) => architecture === word);
    if (!known) throw new Error(`--arch "${word}" is unknown; use ${architectures.join(',')}`);
    return known;
  });
}

export interface BuildOptions extends LayOutOptions {
  /** Folder for archives. */
  readonly out: string;
  /** Prefix of image names, without a trailing slash. */
  readonly repository: string;
}

export interface BuiltImage {
  /** Repository and tag. */
  readonly name: string;
  readonly architecture: Architecture;
  readonly file: string;
  readonly id: string;
  readonly digest: string;
  readonly size: number;
  /** Layer folders, lowest layer first. */
  readonly folders: readonly string[];
  /** The folder in `folders` with the bundle, licenses and the SPDX document. */
  readonly app: string;
}

/** Builds both images for an architecture. */
export async function buildImages(options: BuildOptions): Promise<BuiltImage[]> {
  const { architecture, build, repository, out } = options;
  const work = join(options.work, architecture);
  const packed = new Map<string, Layer>();
  const layerOf = async (folder: string): Promise<Layer> => {
    const layer = packed.get(folder) ?? (await packLayer(folder, `${folder}.tar`));
    packed.set(folder, layer);
    return layer;
  };
  const built: BuiltImage[] = [];
  for (const { name: short, folders, app, config } of await layOut({
    architecture,
    build,
    work,
  })) {
    const layers: Layer[] = [];
    for (const folder of folders) layers.push(await layerOf(folder));
    const name = `${repository}/${short}:${build.version}`;
    const file = join(out, `${short}-${build.version}-linux-${architecture}.tar`);
    const image = { name, architecture, layers, config };
    const written = await writeImage(file, image, join(work, 'layout'));
    built.push({ name, architecture, file, folders, app, ...written });
  }
  return built;
}
