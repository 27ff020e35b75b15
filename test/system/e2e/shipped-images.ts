import { join } from 'node:path';
import { versionOf } from '../../../build/identity.ts';
import { type BuiltImage, buildImages, ownArchitecture } from '../../../build/image/images.ts';

const root = join(import.meta.dirname, '../../..');

export type ShippedImages = Readonly<Record<'controllers' | 'agent', BuiltImage>>;

let built: Promise<ShippedImages> | undefined;

/** Returns both images as they are shipped, under the version that the charts name; each vitest worker builds them once. */
export function shippedImages(): Promise<ShippedImages> {
  built ??= build();
  return built;
}

/** Workers run side by side: each has its own folder, which the next run overwrites. */
async function build(): Promise<ShippedImages> {
  const version = await versionOf(root);
  const out = join(root, `dist/images/worker-${process.env['VITEST_POOL_ID'] ?? 0}`);
  const [controllers, agent] = await buildImages({
    architecture: ownArchitecture,
    version,
    out,
    repository: 'localhost',
    work: join(out, 'work'),
  });
  if (!controllers || !agent) throw new Error('no images were built');
  return { controllers, agent };
}
