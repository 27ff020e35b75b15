import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { writeImage } from '../../build/image/archive.ts';
import { packLayer } from '../../build/image/layer.ts';
import { withFolder } from '../../build/image/workplace.ts';
import type { Series } from './contents.ts';
import { rootOf } from './root.ts';

/** Docker Hub's name, so that a kubelet finds the image as `mariadb:10.11`. */
export const repository = 'docker.io/library/mariadb';

/** Returns the path of the image's archive in the cache, beside its root; packs it the first time. */
export async function mariadbImage(series: Series): Promise<string> {
  const root = await rootOf(series);
  const archive = `${root}.tar`;
  if (existsSync(archive)) return archive;
  await withFolder(`${root}-`, async (work) => {
    const layer = await packLayer(root, join(work, 'layer.tar'));
    const config = {
      User: '',
      Entrypoint: [],
      Env: ['PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin'],
      WorkingDir: '/',
      Labels: {},
    };
    const architecture = process.arch === 'arm64' ? 'arm64' : 'amd64';
    const image = {
      name: `${repository}:${series}`,
      architecture,
      layers: [layer],
      config,
    } as const;
    await writeImage(archive, image, join(work, 'image'));
  });
  return archive;
}
