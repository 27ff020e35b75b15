import { execFile } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { checkoutBuild } from '../../../build/identity.ts';
import {
  type Architecture,
  type BuiltImage,
  buildImages,
  ownArchitecture,
} from '../../../build/image/images.ts';
import { type Unpacked, unpack } from './unpacked.ts';

export const run = promisify(execFile);
export const repository = join(import.meta.dirname, '../../..');
export const shorts = ['multinic-controllers', 'multinic-agent'] as const;
export type Short = (typeof shorts)[number];

/** Images of this tree in a folder of their own, which goes with them. */
export interface Built extends AsyncDisposable {
  readonly folder: string;
  readonly version: string;
  readonly images: readonly BuiltImage[];
  /** Path of the archive of an image. */
  fileOf(short: Short, architecture: Architecture): string;
  /** An image, unpacked. */
  imageOf(short: Short, architecture?: Architecture): Unpacked;
  /** Builds the images of an architecture again, in a folder of that name. */
  build(name: string, architecture: Architecture): Promise<BuiltImage[]>;
}

export async function buildAndUnpack(architectures: readonly Architecture[]): Promise<Built> {
  const folder = await mkdtemp(join(tmpdir(), 'multinic-images-'));
  const build = await checkoutBuild();
  const { version } = build;
  const buildImagesIn = (name: string, architecture: Architecture) => {
    const [out, work] = [join(folder, name, 'out'), join(folder, name, 'work')];
    return buildImages({ architecture, build, repository: 'localhost', out, work });
  };
  const fileOf = (short: Short, architecture: Architecture) =>
    join(folder, 'first/out', `${short}-${version}-linux-${architecture}.tar`);

  const images: BuiltImage[] = [];
  const unpacked = new Map<string, Unpacked>();
  const dispose = () => rm(folder, { recursive: true });
  try {
    for (const architecture of architectures) {
      images.push(...(await buildImagesIn('first', architecture)));
      for (const short of shorts) {
        const found = await unpack(fileOf(short, architecture), join(folder, short, architecture));
        for (const [of, image] of found) unpacked.set(`${short} ${of}`, image);
      }
    }
  } catch (cause) {
    await dispose();
    throw cause;
  }

  return {
    folder,
    version,
    images,
    fileOf,
    imageOf(short, architecture = ownArchitecture) {
      const image = unpacked.get(`${short} ${architecture}`);
      if (!image)
        throw new Error(`no ${short} for ${architecture} among ${[...unpacked.keys()].join(', ')}`);
      return image;
    },
    build: buildImagesIn,
    [Symbol.asyncDispose]: dispose,
  };
}
