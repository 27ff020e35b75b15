import { join } from 'node:path';
import { writeImage } from './archive.ts';
import type { Architecture } from './debian.ts';
import { type LayOutOptions, layOut } from './folders.ts';
import { type Layer, packLayer } from './layer.ts';

export type { Architecture } from './debian.ts';
export const architectures: readonly Architecture[] = ['amd64', 'arm64'];

/** That of this machine, as Debian calls it. */
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
  /** Folder of the archives. */
  readonly out: string;
  /** What comes before the name of an image, without a slash at its end. */
  readonly repository: string;
}

export interface BuiltImage {
  readonly name: string;
  readonly file: string;
  readonly id: string;
  readonly digest: string;
  readonly size: number;
  /** Folders of its layers, the lowest first. */
  readonly folders: readonly string[];
  /** The one of `folders` that holds the bundle, its licences and the SPDX document. */
  readonly app: string;
}

/** Builds both images of an architecture. */
export async function buildImages(options: BuildOptions): Promise<BuiltImage[]> {
  const { architecture, version, repository, out } = options;
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
    version,
    work,
  })) {
    const layers: Layer[] = [];
    for (const folder of folders) layers.push(await layerOf(folder));
    const name = `${repository}/${short}:${version}`;
    const file = join(out, `${short}-${version}-linux-${architecture}.tar`);
    const image = { name, architecture, layers, config };
    const written = await writeImage(file, image, join(work, 'layout'));
    built.push({ name, file, folders, app, ...written });
  }
  return built;
}
