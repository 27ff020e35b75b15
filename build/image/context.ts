import { mkdir, rename, rm } from 'node:fs/promises';
import { basename, join } from 'node:path';
import type { Build } from '../../src/process/version.ts';
import type { Architecture } from './debian.ts';
import { layOut } from './folders.ts';
import { openFolders } from './layer.ts';
import { withFolder } from './workplace.ts';

/**
 * Lays out the files for the Dockerfiles: `ARCHITECTURE/base`, `tools` and a folder per image, with the same files as in the archives.
 * `out` may exist already.
 */
export async function writeContext(
  architectures: readonly Architecture[],
  build: Build,
  out: string,
): Promise<void> {
  await mkdir(out, { recursive: true });
  // Beside the final folder, because a rename needs the same filesystem.
  await withFolder(join(out, '.work-'), async (work) => {
    for (const architecture of architectures) {
      const images = await layOut({ architecture, build, work: join(work, architecture) });
      const place = join(out, architecture);
      await rm(place, { recursive: true, force: true });
      await mkdir(place);
      for (const folder of new Set(images.flatMap(({ folders }) => folders))) {
        await openFolders(folder);
        await rename(folder, join(place, basename(folder)));
      }
    }
  });
}
